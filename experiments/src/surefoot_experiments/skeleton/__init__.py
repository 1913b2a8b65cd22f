"""The skeleton of every experiment: units of work, the run, the judgement of findings, and the report."""
