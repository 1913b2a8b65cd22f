"""The candidate models, their predictions and their losses."""
