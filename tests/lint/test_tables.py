"""The tables hold what they say: no op or primitive for what NumPy writes in Python, no second list of anything."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"


def rows(path, macro):
    """First argument of each row of a table, without quotes."""
    text = re.sub(r"//.*", "", (SRC / path).read_text())
    return [m.strip().strip('"') for m in re.findall(rf"^\s*{macro}\(\s*([^,)]+)", text, re.MULTILINE)]


def resolve(name):
    """The object that a dotted name stands for: a ufunc, a name in a module, or one of numpy; None when there is none."""
    module, _, attribute = name.rpartition(".")
    if module and module.split(".")[0] not in {"ndarray", "generic"}:
        return dotted(name)
    for root in (np._core.umath, np.linalg._umath_linalg, np, np.linalg, np.ndarray):
        if hasattr(root, attribute):
            return getattr(root, attribute)
    return None


def dotted(name):
    parts = name.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        for part in parts[split:]:
            found = getattr(found, part, None)
        return found
    return None


def written_in_python(function):
    """Whether NumPy implements this callable in Python; Python wrappers that only dispatch to C code are not."""
    inner = getattr(function, "__wrapped__", None) or getattr(function, "_implementation", None) or function
    return hasattr(inner, "__code__") and not is_dispatcher(inner)


def is_dispatcher(function):
    """A function of multiarray.py or overrides.py only names the arguments of a C function."""
    return function.__code__.co_filename.endswith(("multiarray.py", "overrides.py"))


def test_parts_of_the_prelude_are_its_files():
    parts = rows("codegen/parts.inc", "PART")
    files = [path.stem for path in (SRC / "codegen/prelude").rglob("*.h")]
    # "library" is before the kernel's namespace, four are in the host's text of kernels for a device; "abi" is made from
    # kernel_abi.h.
    assert sorted([*parts, "library", "launch_choice", "launches", "device_flow", "ordered_launches"]) == sorted(
        [*files, "abi"]
    )


def test_ops_are_no_python_functions_of_numpy():
    ops = rows("ir/ops.inc", "OP")
    assert len(ops) > 20
    reductions = {"argmax", "argmin"}  # a method of ndarray in C; the function in Python calls it
    shapes = {
        "transpose",
        "reshape",
        "squeeze",
        "broadcast_to",
        "expand_dims",
        "full",
        "real",
        "imag",
        "astype",
    }  # views and leaves
    memory = {"copy", "take", "put"}  # methods of ndarray in C
    found = [name for name in ops if name not in reductions | shapes | memory and written_in_python(resolve(name))]
    assert not found, f"NumPy writes these in Python, so they are captured by tracing: {found}"


def test_primitives_are_no_python_functions_of_numpy():
    primitives = rows("capture/primitives/primitives.inc", "PRIMITIVE")
    assert len(primitives) > 20
    found = [name for name in primitives if written_in_python(resolve(name))]
    assert not found, f"NumPy writes these in Python, so they are captured by tracing: {found}"


@pytest.mark.parametrize(
    ("table", "macro"),
    [
        ("ir/ops.inc", "OP"),
        ("base/reasons.inc", "REASON"),
        ("base/settings.inc", "SETTING"),
        ("passes/passes.inc", "PASS"),
        ("schedule/steps.inc", "STEP"),
    ],
)
def test_rows_are_unique(table, macro):
    names = rows(table, macro)
    assert names and len(names) == len(set(names))


def test_every_reason_is_used():
    sources = "\n".join(p.read_text() for p in SRC.rglob("*") if p.suffix in {".h", ".cpp", ".inc"} and p.name != "reasons.inc")
    unused = [code for code in rows("base/reasons.inc", "REASON") if f"Reason::{code}" not in sources]
    assert not unused, f"reason codes that nothing gives: {unused}"


def test_every_setting_is_used():
    sources = "\n".join(p.read_text() for p in SRC.rglob("*") if p.suffix in {".h", ".cpp"})
    unused = [name for name in rows("base/settings.inc", "SETTING") if not re.search(rf"\b{name}\b", sources)]
    assert not unused, f"settings that nothing reads: {unused}"


def test_page_of_the_schedule_has_its_steps():
    page = (ROOT / "docs/developer/stages/schedule.md").read_text()
    described = re.findall(r"^\| `(\w+)`\*? \| (?:graph|segment|program) \| `([\w/]+)`", page, re.MULTILINE)
    assert [name for name, _ in described] == rows("schedule/steps.inc", "STEP")
    for name, file in described:
        assert f" {name}(" in (SRC / "schedule" / f"{file}.cpp").read_text(), f"{name} is not in {file}"


def test_no_second_list():
    """Reason codes and settings appear in Python and in the documentation only where a script wrote them."""
    names = set(rows("base/reasons.inc", "REASON"))
    for path in (ROOT / "python").rglob("*.py"):
        quoted = set(re.findall(r"['\"](\w+)['\"]", path.read_text())) & names
        assert len(quoted) < 4, f"{path.relative_to(ROOT)} lists reason codes: {sorted(quoted)}"


@pytest.mark.parametrize("script", ["generate.py", "pipeline.py"])
def test_generated_pages_are_current(script):
    done = subprocess.run([sys.executable, ROOT / "docs" / script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
