"""The experiments of "Uncertainty in Gradient Boosting via Ensembles" (Malinin, Prokhorenkova & Ustimenko 2021)."""
