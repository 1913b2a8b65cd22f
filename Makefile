# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

.PHONY: demo test faults lint docs bench dist oldest pythons clean

demo: $(INSTALLED)
	$(RUN) examples/demo.py

test: export PYTHONDONTWRITEBYTECODE =  # the many processes of the tests share what Python has compiled
test: $(INSTALLED)
	$(RUN) tests/compile_kernels.py
	$(RUN) -m pytest -n auto --dist worksteal -m "not alone"
	$(RUN) -m pytest -m alone $$(grep -rl --include="test_*.py" "mark.alone" tests experiments/tests)

faults: export SUREFOOT_FAULTS = long
faults: $(INSTALLED)
	$(RUN) -m pytest -m fault tests

lint: $(INSTALLED)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m pytest -q tests/test_docstrings.py

docs: $(INSTALLED)
	$(RUN) -m pip install --quiet --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --site-dir build/site

bench: $(INSTALLED)
	$(RUN) benchmarks/boosting.py
	$(RUN) benchmarks/uncertainty.py
	$(RUN) benchmarks/selection.py
	$(RUN) benchmarks/shift.py

# By hand, before a release: each makes its own environments in build/.
dist:
	$(PYTHON) release/distributions.py

oldest:
	$(PYTHON) release/oldest.py

pythons:
	$(PYTHON) release/pythons.py

$(INSTALLED): pyproject.toml experiments/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable ".[dev]" --editable "./experiments[test]"
	touch $(INSTALLED)

clean:
	rm -rf $(VENV) demo-output build dist
