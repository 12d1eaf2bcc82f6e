"""docs/developer/private_symbols.md lists what the source uses of CPython's private and unstable interfaces."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/developer/private_symbols.md"
SYMBOL = re.compile(r"\b(_Py[A-Za-z]\w*|PyUnstable_\w+)\b")


def test_the_table_has_the_symbols_of_the_source():
    used = set()
    for path in (ROOT / "src").rglob("*"):
        if path.suffix in (".h", ".cpp", ".inc"):
            used |= set(SYMBOL.findall(path.read_text()))
    listed = re.findall(r"^\| `(\w+)` \| 3\.", PAGE.read_text(), re.MULTILINE)
    assert len(set(listed)) == len(listed)
    assert set(listed) == used
