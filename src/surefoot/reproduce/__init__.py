"""The papers' experiments, remade: what ``surefoot reproduce`` runs."""

EXPERIMENTS = {
    "weak-to-strong": "Høgsgaard, Larsen & Mathiasen 2024, figures 1 and 2: four boosters by number of members",
}

__all__ = ["EXPERIMENTS"]
