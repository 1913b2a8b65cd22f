"""Every fault of docs/faults.md has a test, which is found by the number of the fault."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "faults.md"


def numbers(pattern, text):
    return {int(number) for number in re.findall(pattern, text, re.MULTILINE)}


def test_every_fault_has_a_test_and_every_number_a_fault():
    listed = numbers(r"^(\d+)\. \*\*", PAGE.read_text(encoding="utf-8"))
    assert listed == set(range(1, 30))
    code = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    assert numbers(r"mark\.fault\(number=(\d+)\)", code) == listed
