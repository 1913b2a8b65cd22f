"""Which columns a prediction, and its uncertainty, come from."""
