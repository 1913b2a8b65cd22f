"""Two runs never write to one folder at the same time."""

import multiprocessing
import signal

import pytest

from surefoot import ParameterError
from surefoot_experiments.skeleton.run import folder_lock

pytest.importorskip("fcntl", reason="locks need a Unix")


def hold(folder, is_held):
    with folder_lock(folder):
        is_held.set()
        signal.pause()


def test_a_second_run_is_refused_until_the_first_ends_or_is_killed(tmp_path):
    fork = multiprocessing.get_context("fork")  # a new process would import everything
    is_held = fork.Event()
    other = fork.Process(target=hold, args=(tmp_path, is_held), daemon=True)
    other.start()
    assert is_held.wait(60)
    with pytest.raises(ParameterError, match="Another run"), folder_lock(tmp_path):
        pass
    other.kill()
    other.join()
    with folder_lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
