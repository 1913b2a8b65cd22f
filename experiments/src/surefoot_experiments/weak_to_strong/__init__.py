"""The experiment of "The Many Faces of Optimal Weak-to-Strong Learning" (Høgsgaard, Larsen & Mathiasen 2024)."""
