"""The page: one HTML document that needs no other file."""
