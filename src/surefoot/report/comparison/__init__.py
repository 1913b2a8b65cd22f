"""Several audits of one target: what changed, and which changes are shown."""
