"""Two runs never write to one folder at the same time."""

import subprocess
import sys

import pytest

from surefoot import ParameterError
from surefoot_experiments.skeleton.run import folder_lock

pytest.importorskip("fcntl", reason="locks need a Unix")

HOLD = "import sys, pathlib\nfrom surefoot_experiments.skeleton.run import folder_lock\n"
HOLD += "with folder_lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"


def test_a_second_run_is_refused_until_the_first_ends_or_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ParameterError, match="Another run"), folder_lock(tmp_path):
            pass
        other.kill()
    with folder_lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
