"""Scripts run in fresh processes, for tests of what is imported.

Each is a fork of one process that has imported what surefoot always needs: these packages take most of the time that a
new process needs to import surefoot.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

SERVER = """
import json, os, signal, sys
import joblib, narwhals, numba, scipy.special, sklearn.ensemble

for line in sys.stdin:
    script, *paths = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # seconds: a script that hangs fails
        for stream, path in enumerate([os.devnull, *paths]):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), stream)
        exec(script, {"__name__": "__main__"})
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}  # threads do not survive a fork


@contextmanager
def fresh_processes():
    """Yield a function that runs a script and returns a ``CompletedProcess``."""
    command, environment = [sys.executable, "-c", SERVER], os.environ | ONE_THREAD
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with TemporaryDirectory() as folder, subprocess.Popen(command, text=True, env=environment, **pipes) as server:
        paths = [Path(folder) / name for name in ("stdout", "stderr")]

        def run(script):
            for path in paths:
                path.write_text("")
            server.stdin.write(json.dumps([script, *map(str, paths)]) + "\n")
            server.stdin.flush()
            status = int(server.stdout.readline())
            return subprocess.CompletedProcess(script, status, *(path.read_text(encoding="utf-8") for path in paths))

        yield run
