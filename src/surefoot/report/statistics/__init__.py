"""95% intervals of what is measured on rows, or on groups of rows, and what they decide."""
