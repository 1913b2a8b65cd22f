"""Audit models of bike rentals: four questions, one page. Do models of ten months hold in the last two?"""

import os
import sys
import webbrowser
from pathlib import Path

import pandas as pd

from surefoot.cli.app import app

TABLE = Path(__file__).parent / "bike-rentals.csv"
OUTPUT = Path("demo-output")
FIRST_NEW_DAY = "2011-11-01"


def main() -> None:
    OUTPUT.mkdir(exist_ok=True)
    table = pd.read_csv(TABLE)
    training, deployment, page = OUTPUT / "rentals.csv", OUTPUT / "later-rentals.csv", OUTPUT / "report.html"
    is_new = table["date"] >= FIRST_NEW_DAY
    table[~is_new].to_csv(training, index=False)
    table[is_new].to_csv(deployment, index=False)
    # The hours of a day belong together: they are held out together.
    command = ["audit", str(training), "--target", "rentals", "--group", "date", "--new", str(deployment)]
    command += ["-o", str(page)]
    print("surefoot", *command, flush=True)
    print("(The first run compiles the kernels, which takes about 20 seconds.)\n", flush=True)
    app(command, standalone_mode=False)
    if sys.stdout.isatty() and (os.name == "nt" or sys.platform == "darwin" or os.environ.get("DISPLAY")):
        webbrowser.open(page.resolve().as_uri())


if __name__ == "__main__":
    main()
