"""How large a class or a function of src may be."""

import re
import subprocess
import sysconfig

import clang.cindex as clang
import numpy as np
import pytest
from host_compiler import host_compiler
from test_includes import SRC, source_files

CLASSES = {clang.CursorKind.CLASS_DECL, clang.CursorKind.STRUCT_DECL, clang.CursorKind.CLASS_TEMPLATE}
MOST_METHODS, MOST_FIELDS, MOST_LINES = 40, 20, 60

# What is larger: its methods and fields, which may only become fewer, and the reason.
LARGE_CLASSES = {
    "Builder": (51, 3),  # one method for each form of node
    "Stmt": (0, 25),  # a statement of a Program; which fields count depends on its kind
}

# Structs with a field for each row of a table.
OF_TABLES = {"Settings", "CudaDriver"}


def include_options():
    found = subprocess.run(
        [*host_compiler(), "-xc++", "-E", "-v", "/dev/null"], capture_output=True, text=True, check=True
    ).stderr
    folders = found.partition("search starts here:")[2].partition("End of search list")[0].split("\n")
    options = [f"-isystem{folder.strip()}" for folder in folders if folder.startswith(" ")]
    return [*options, f"-I{SRC}", f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]


@pytest.fixture(scope="module")
def classes():
    """Methods and data members of each class in a header, by name."""
    headers = [p for p in source_files() if p.suffix == ".h" and p.parts[len(SRC.parts)] != "bind"]
    text = "".join(f'#include "{p.relative_to(SRC)}"\n' for p in headers)
    unit = clang.Index.create().parse(
        "all.cpp",
        args=["-std=c++20", *include_options()],
        unsaved_files=[("all.cpp", text)],
        options=clang.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
    )
    # The compiler's own headers are not written for libclang; what it does not know of them does not matter here.
    fatal = [str(d) for d in unit.diagnostics if d.severity >= clang.Diagnostic.Fatal or is_error_of_ours(d)]
    assert not fatal, fatal
    found = {}
    visit(unit.cursor, found)
    assert len(found) > 200
    return found


def is_error_of_ours(diagnostic):
    file = diagnostic.location.file
    return diagnostic.severity >= clang.Diagnostic.Error and file is not None and file.name.startswith(str(SRC))


def visit(cursor, found):
    kinds = clang.CursorKind
    for child in cursor.get_children():
        if child.kind == kinds.NAMESPACE:
            visit(child, found)
        elif child.kind in CLASSES and child.is_definition() and child.location.file.name.startswith(str(SRC)):
            members = list(child.get_children())
            methods = sum(m.kind in (kinds.CXX_METHOD, kinds.FUNCTION_TEMPLATE) for m in members)
            found[child.spelling] = (methods, sum(m.kind == kinds.FIELD_DECL for m in members))
            visit(child, found)


def test_classes(classes):
    large = {name: size for name, size in classes.items() if size[0] > MOST_METHODS or size[1] > MOST_FIELDS}
    large = {name: size for name, size in large.items() if name not in OF_TABLES}
    assert large == LARGE_CLASSES


def functions(path):
    """First line and number of lines of the functions that begin at the first column, as clang-format lays them out."""
    first = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        is_other = re.match(r"(namespace|class|struct|enum|union)\b", line) or " = " in line
        if first is None and re.match(r"\w.*\(", line) and not is_other:
            first = number
        if first is not None and (line.startswith("}") or (number == first and line.endswith("}"))):
            yield first, number - first + 1
            first = None
        elif first is not None and line.endswith(";") and not line.startswith("  "):
            first = None


def test_functions():
    found = []
    for path in source_files():
        if path.suffix not in {".cpp", ".h"}:
            continue
        lines = path.read_text().splitlines()
        for first, count in functions(path):
            if count > MOST_LINES:
                found.append(f"{path.relative_to(SRC)}: {lines[first - 1]}: {count}")
    assert not found, f"over {MOST_LINES} lines: {found}"
