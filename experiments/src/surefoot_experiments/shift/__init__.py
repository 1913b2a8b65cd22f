"""What ``surefoot reproduce shift`` runs: bounds of the V-matrix, and boosting on biased samples."""
