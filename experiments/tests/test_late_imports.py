"""Importing the experiments is light."""

import subprocess
import sys


def test_heavy_packages_are_imported_late():
    code = """if True:
        import sys, surefoot
        before = set(sys.modules)
        assert not any(name.startswith(("surefoot.cli", "surefoot_experiments")) for name in before)
        import surefoot_experiments.shift.experiment
        import surefoot_experiments.stability.experiment
        import surefoot_experiments.uncertainty.experiment
        import surefoot_experiments.weak_to_strong.experiment
        assert not {"matplotlib", "typer"} & set(sys.modules)
        assert not {"pandas", "rich"} & (set(sys.modules) - before)  # scikit-learn may have brought them already
    """
    subprocess.run([sys.executable, "-c", code], check=True)
