"""Audit a model of diabetes patients of one sex: four questions, one page. Does it hold for the other sex?"""

import os
import sys
import webbrowser
from pathlib import Path

from sklearn.datasets import load_diabetes

from surefoot.cli.app import app

OUTPUT = Path("demo-output")


def main() -> None:
    OUTPUT.mkdir(exist_ok=True)
    table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})
    training, deployment, page = OUTPUT / "patients.csv", OUTPUT / "other-patients.csv", OUTPUT / "report.html"
    table[table["sex"] == 1].to_csv(training, index=False)
    table[table["sex"] == 2].to_csv(deployment, index=False)
    command = ["audit", str(training), "--target", "progression", "--new", str(deployment), "-o", str(page)]
    print("surefoot", *command, flush=True)
    print("(The first run compiles the kernels, which takes about 20 seconds.)\n", flush=True)
    app(command, standalone_mode=False)
    if sys.stdout.isatty() and (os.name == "nt" or sys.platform == "darwin" or os.environ.get("DISPLAY")):
        webbrowser.open(page.resolve().as_uri())


if __name__ == "__main__":
    main()
