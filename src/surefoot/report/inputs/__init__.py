"""What the user passed in: table, target, splits, deployment data, own model or predictions."""
