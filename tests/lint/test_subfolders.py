"""The subfolders of a stage: which of them may include which, and how many files a folder may hold."""

import pytest
from test_includes import INCLUDE, ROOT, SRC, source_files

# stage -> its subfolders in the order of their dependencies: a file may include files of its own subfolder and of those before
# it. "." is the stage's folder itself.
ORDER = {
    "capture": ["domain", "product", "context", "protocol", "python", "numpy", "primitives", "interpreter", "."],
    "schedule": ["program", "analysis", "graph", "memory", "lowering", "blocks", "loops", "."],
    "codegen": [".", "prelude", "analysis", "emit"],
    "dispatch": ["signals", "guests", "reports", "events", "exits", "calls", "launch", "backends", "entries", "versions", "."],
    "ir": ["integers", ".", "analysis", "text"],
    "passes": ["analysis", "."],
    "toolchain": [".", "host", "cuda", "doctor"],
    "cpython": [".", "bytecode", "frames"],
    "runtime": [".", "cuda"],
}

MOST_FILES = 25
LARGE_FOLDERS = {  # the number of their files; may only shrink
    "tests/golden/ir/reduction_plan": 26,  # the folder is the subject of all its cases
}


def subfolder(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "."


def against_the_order(stage):
    order = ORDER[stage]
    found = {}
    for path in source_files():
        name = str(path.relative_to(SRC))
        if not name.startswith(stage + "/"):
            continue
        own = order.index(subfolder(name))
        for included in INCLUDE.findall(path.read_text()):
            if included.startswith(stage + "/") and order.index(subfolder(included)) > own:
                found.setdefault(name, []).append(included)
    return found


@pytest.mark.parametrize("stage", ORDER)
def test_order(stage):
    assert against_the_order(stage) == {}


def test_every_stage_with_subfolders_is_in_the_table():
    stages = {p.name for p in SRC.iterdir() if any(child.is_dir() for child in p.glob("*"))}
    assert stages == set(ORDER)


def test_size_of_folders():
    counts = {}
    for top in (SRC, ROOT / "tests"):
        for path in top.rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                folder = str(path.parent.relative_to(ROOT))
                counts[folder] = counts.get(folder, 0) + 1
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == LARGE_FOLDERS
