"""The page of what is compiled has every public name of NumPy, and is current."""

from pathlib import Path

import numpy as np
from support import breadth

PAGE = Path(__file__).resolve().parents[2] / "docs" / "breadth.md"


def test_every_name_has_a_call():
    missing = {section: sorted(names - set(table)) for section, names, table in breadth.sections() if names - set(table)}
    assert not missing, f"add calls to tests/support/breadth_calls.py: {missing}"


def test_page_is_current():
    """Where another NumPy made the page, a few functions may be answered otherwise."""
    written, found = PAGE.read_text(), breadth.kinds_on(breadth.page())
    listed = breadth.kinds_on(written)
    changed = {row: f"{listed.get(row)}, now {kind}" for row, kind in found.items() if listed.get(row) != kind}
    is_same_numpy = f"NumPy {breadth.minor()} is" in written
    most = 0 if is_same_numpy else len(found) // 20
    assert len(changed) <= most, f"run python docs/generate.py: {changed} (NumPy {np.__version__})"
    if is_same_numpy:
        assert set(found) == set(listed), f"run python docs/generate.py: {set(found) ^ set(listed)}"
