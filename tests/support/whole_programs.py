"""The programs of tests/programs: plain NumPy functions, each with arguments of several sizes."""

import dataclasses
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "programs"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclasses.dataclass
class Program:
    """A program. `make(rng, *size)` returns the arguments of a call, `bad` makes arguments for which the function raises."""

    function: Callable
    make: Callable
    small: tuple
    large: tuple
    full: tuple | None = None  # the benchmark's size; None: `large`
    bad: Callable | None = None
    name: str = ""

    def __post_init__(self):
        self.name = self.name or self.function.__name__

    def arguments(self, size):
        return self.make(np.random.default_rng(0), *size)


def load(stem, folder=FOLDER, prefix="whole_programs"):
    """Loads the module tests/programs/STEM.py under a name that no module of another folder has."""
    name = f"{prefix}_{stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / f"{stem}.py")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def load_example(stem):
    """The module examples/STEM.py."""
    return load(stem, EXAMPLES, "example")


def all_programs():
    """All programs in the `PROGRAMS` lists of the folder, by name."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        for program in load(path.stem).PROGRAMS:
            assert program.name not in found, program.name
            found[program.name] = program
    return found


def state(program):
    """`whole`, or the reason code, line and detail of the first obstacle to capturing the program as a whole."""
    import accel

    call = accel.compile(program.function)
    for size in (program.small, program.large):
        found = accel.explain(call)(*program.arguments(size))
        if found.exception is not None:
            return f"raised {found.exception!r}"
        if not found.compiled or found.fallbacks:
            left = [f for f in found.fallbacks if f.reason != "guard_failed"] or found.fallbacks
            return "; ".join(dict.fromkeys(f"{f.reason}, line {f.lineno}: {f.detail}" for f in left)) or "not compiled"
    return "whole"


def main():
    """Prints the state of all programs or of the named ones; --table: in the form of the table in tests/test_programs.py."""
    as_table = "--table" in sys.argv
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    whole = 0
    programs = all_programs()
    for name in names or programs:
        text = state(programs[name])
        whole += text == "whole"
        if not as_table:
            print(f"{name:<32}{text}", flush=True)
        elif text != "whole":
            print(f"    {name!r}: {text.split(';')[0]!r},".replace("'", '"'), flush=True)
    print(f"# {whole} of {len(names or programs)} captured whole")


if __name__ == "__main__":
    main()
