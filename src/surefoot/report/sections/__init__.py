"""The sections of the audit, one folder for each question."""
