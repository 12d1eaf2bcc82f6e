"""What must not stand in the tree, and what had better not grow."""

import re
import subprocess
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONG_FILE = 600
COLUMNS = 128


def tree():
    """The files of the project: what git knows, or what lies there when this is no clone."""
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        names = done.stdout.splitlines()
    else:
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if not {".venv", "build", ".git"} & set(p.parts)]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def text_files():
    return [
        p
        for p in tree()
        if p.suffix in {".py", ".pyi", ".cpp", ".h", ".cu", ".inc", ".md", ".toml", ".txt", ".cmake", ".json"}
        or p.parent.name == ".ci"
    ]


FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.$}{-])/(root|work|home|Users)/\w"),
    "a package registry's host": re.compile(r"index[-]url|registry *[=] *.?http|https?:[/]/[\w.:-]+[/]simple\b"),
    "a C++ name that says nothing": re.compile(r"\b(class|struct) \w+(Manager|Helper|Util|Utils|Handler)\b"),
    "an unresolved merge": re.compile(r"^(<{7}|>{7}) ", re.MULTILINE),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_absent(what):
    found = []
    for path in text_files():
        if path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if FORBIDDEN[what].search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join([what, *found])


def test_no_math_flag_that_changes_results():
    """-ffast-math and its parts must not be passed to any compiler."""
    flag = re.compile(r'"[^"\n]*-f(fast-math|associative-math|unsafe-math-optimizations|reciprocal-math|finite-math-only)')
    found = [
        str(p.relative_to(ROOT))
        for p in text_files()
        if p.suffix in {".cpp", ".h", ".txt", ".cmake"} and flag.search(p.read_text())
    ]
    assert not found, found


def test_long_files_are_noticed():
    counts = {
        p: len(p.read_text(errors="replace").splitlines())
        for p in text_files()
        if p.suffix in {".py", ".cpp", ".h", ".cu", ".inc"}
    }
    assert counts
    for path, count in counts.items():
        if count > LONG_FILE:
            warnings.warn(f"{path.relative_to(ROOT)} has {count} lines: does it still have one job?", stacklevel=1)


def long_lines(path):
    """Numbers of the comment lines of a source, or of the lines of a page outside of tables and code, that are too long."""
    is_page, in_code = path.suffix == ".md", False
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        in_code ^= is_page and line.startswith("```")
        counts = not in_code and not line.startswith("|") if is_page else re.match(r"\s*(//|#)", line)
        if counts and len(line) > COLUMNS:
            yield number


def test_comments_and_pages_fit_the_columns():
    """Ruff says it of Python's docstrings."""
    found = [f"{path.relative_to(ROOT)}:{number}" for path in text_files() for number in long_lines(path)]
    assert not found, f"over {COLUMNS} columns: {found}"
