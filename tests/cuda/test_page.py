"""The examples of docs/gpu.md."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"


def test_assertions_of_the_examples():
    """The examples share their names. Their own assertions are the checks; a traceback has the lines of the page."""
    text = PAGE.read_text()
    names = {"__name__": "page"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert any("\nassert " in block[1] for block in blocks)
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), names)
