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

# The tests of kernels run twice more: with checked indices, and uncompiled, where their lines are counted. Uncompiled, the
# second list takes too long. There, a byte plus a number of Python must be a byte: trees with more than 256 leaves in a
# level are left out.
KERNEL_TESTS := tests/test_random.py tests/trees tests/boosting/test_stump_kernels.py tests/data/test_bin_edges.py \
	tests/data/test_category_statistics.py tests/selection/test_sindy.py tests/selection/test_tree_selector.py \
	tests/shift/test_vmatrix_kernels.py tests/shift/test_leafwise_grower.py \
	$(addprefix tests/uncertainty/families/test_,$(addsuffix .py,family_bounds family_classification family_kernels \
	family_likelihood family_start family_targets regression_family))
LONG_KERNEL_TESTS := tests/data/test_binned_table.py tests/selection/test_lasso.py tests/selection/test_logistic_lasso.py \
	tests/selection/test_graphical_lasso.py tests/uncertainty/test_chain_noise.py \
	tests/uncertainty/families/test_family_steps.py tests/uncertainty/families/test_more_families.py

faults: $(INSTALLED)
	SUREFOOT_FAULTS=long $(RUN) -m pytest -m fault tests
	NUMBA_BOUNDSCHECK=1 $(RUN) -m pytest $(KERNEL_TESTS) $(LONG_KERNEL_TESTS)
	NUMBA_DISABLE_JIT=1 PYTHONPATH=tests $(RUN) -m pytest -p kernel_lines $(KERNEL_TESTS) \
		--deselect "tests/trees/test_gradient_grower.py::test_trees_of_any_depth[True-10]"

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
