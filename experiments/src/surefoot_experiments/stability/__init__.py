"""Experiments of "Stabilizing black-box model selection with the inflated argmax" (Adrian, Soloff & Willett 2024)."""
