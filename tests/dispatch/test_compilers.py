"""Any C++ compiler: what it understands of the flags of kernels, how CXX names it, and what doctor says of it."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from host_compiler import is_clang, shell_text

PROGRAM = """
import warnings
import numpy as np
import accel
from support.compiled import facts

call, x = accel.compile(lambda x: np.sqrt(x) / (x - 1)), np.linspace(2, 3, 100)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert call(x).tobytes() == (np.sqrt(x) / (x - 1)).tobytes()
print(facts(call)["compiles"], *(str(w.message) for w in caught))
"""

# Says that it does not know the flags of REFUSED, but for the rest.
PICKY = """#!/bin/sh
echo >> "$0.runs"
for word; do
    case "$word" in REFUSED) echo "error: unrecognized command-line option '$word'" >&2; exit 1;; esac
done
exec REAL "$@"
"""


def fake(tmp_path, refused="nothing", name="", script=PICKY):
    path = tmp_path / (name or ("fake-clang++" if is_clang() else "fake++"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script.replace("REAL", shell_text()).replace("REFUSED", refused))
    path.chmod(0o755)
    return path


def runs_of(path):
    counter = path.parent / (path.name + ".runs")
    return len(counter.read_text()) if counter.exists() else 0


def run(tmp_path, *arguments, **environment):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("ACCEL_")}
    path = [str(tmp_path / "packages"), os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH", "")]
    settings.update(ACCEL_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=os.pathsep.join(filter(None, path)))
    settings.update({k: str(v) for k, v in environment.items()})
    command = [sys.executable, *(arguments or ("-c", PROGRAM))]
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300, check=False)


def doctor(tmp_path, compiler):
    return run(tmp_path, "-m", "accel", "doctor", CXX=compiler).stdout


def compiles_silently(tmp_path, compiler):
    done = run(tmp_path, CXX=compiler)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stdout + done.stderr
    return True


def test_one_compile_asks_for_all_flags(tmp_path):
    compiler = fake(tmp_path)
    assert compiles_silently(tmp_path, compiler) and runs_of(compiler) == 2  # and one makes the kernel
    assert compiles_silently(tmp_path, compiler) and runs_of(compiler) == 2
    other = run(tmp_path, "-c", PROGRAM.replace("x - 1", "x + 2"), CXX=compiler)
    assert other.stdout == "1\n" and runs_of(compiler) == 3  # what it understands is known


REFUSED = {
    "nothing": [],
    "-falign-loops=32": ["-falign-loops=32"],
    "-fno-rtti|-pipe|-Wl,-Bsymbolic": ["-fno-rtti", "-pipe", "-Wl,-Bsymbolic"],
    "-march=native": ["-march=native"],
    "-lgcc": ["-lgcc"],
}


@pytest.mark.parametrize("refused", REFUSED)
def test_flags_for_speed_are_left_out(tmp_path, refused):
    compiler = fake(tmp_path, refused)
    assert compiles_silently(tmp_path, compiler)
    text = doctor(tmp_path, compiler)
    absent = [line for line in text.splitlines() if "does not understand" in line]
    assert len(absent) == len(REFUSED[refused]), text
    for flag in REFUSED[refused]:
        assert any(f"understand {flag}," in line and "slower" in line for line in absent), text


def test_flags_that_are_warned_of_are_left_out(tmp_path):
    """As clang warns of what it does not know."""
    script = PICKY.replace("-Werror", "").replace(
        "for word", 'case "$*" in *-fno-rtti*-Werror*) echo "warning: unknown" >&2; exit 1;; esac\nfor word'
    )
    compiler = fake(tmp_path, script=script)
    assert compiles_silently(tmp_path, compiler)
    assert "does not understand -fno-rtti," in doctor(tmp_path, compiler)


def test_words_of_the_command_may_be_warned_of(tmp_path):
    compiler = fake(tmp_path, "-Werror|-pipe")
    assert compiles_silently(tmp_path, compiler)
    text = doctor(tmp_path, compiler)
    assert text.count("does not understand") == 1 and "does not understand -pipe," in text


@pytest.mark.parametrize("flag", ["-ffp-contract=off", "-fwrapv"])
def test_a_compiler_that_cannot_be_exact(tmp_path, flag):
    compiler = fake(tmp_path, flag)
    done = run(tmp_path, CXX=compiler)
    assert done.returncode == 0 and done.stdout.startswith("0 "), done.stdout + done.stderr
    assert f"does not understand {flag}" in done.stdout and "set CXX" in done.stdout
    text = doctor(tmp_path, compiler)
    assert "BAD  compiler" in text and flag in text


def test_a_name_that_leads_astray(tmp_path):
    """The compiler itself says which one it is."""
    compiler = fake(tmp_path, name="g++" if is_clang() else "clang++")
    assert compiles_silently(tmp_path, compiler)
    assert "BAD" not in doctor(tmp_path, compiler)


def package(tmp_path, script):
    """A package of the name of the one that brings a compiler; the environment in which it is the only compiler."""
    fake(tmp_path, name="packages/ziglang/zig", script=script)
    return {"PATH": str(tmp_path), "CXX": ""}


def test_a_compiler_that_a_package_brings(tmp_path):
    script = f'#!/bin/sh\nPATH={shlex.quote(os.environ["PATH"])}\n[ "$1" = c++ ] && shift && exec REAL "$@"\n'
    environment = package(tmp_path, script)
    done = run(tmp_path, **environment)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stdout + done.stderr
    text = run(tmp_path, "-m", "accel", "doctor", **environment).stdout
    assert "ziglang/zig c++ (" in text and "BAD" not in text, text
    other = fake(tmp_path)
    assert str(other) in run(tmp_path, "-m", "accel", "doctor", **{**environment, "CXX": other}).stdout


def test_a_package_whose_compiler_fails(tmp_path):
    environment = package(tmp_path, "#!/bin/sh\necho error: no space >&2; exit 1\n")
    done = run(tmp_path, **environment)
    assert done.returncode == 0 and done.stdout.startswith("0 ") and "no space" in done.stdout, done.stdout + done.stderr


def test_doctor_names_the_compiler(tmp_path):
    compiler = fake(tmp_path)
    text = doctor(tmp_path, f"{compiler} -DSOMETHING")
    [line] = [line for line in text.splitlines() if " compiler: " in line]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    assert f"{compiler} -DSOMETHING" in line and version in line, text
    assert "flags: " in text and "-ffp-contract=off" in text


@pytest.mark.parametrize("quote", [shlex.quote, lambda path: path.replace(" ", "\\ "), lambda path: f'"{path}"'])
def test_words_are_quoted_as_for_a_shell(tmp_path, quote):
    check = 'for word; do [ "$word" = "-DTEXT=a b" ] && found=1; done; [ "$found" ] || exit 1\nfor word'
    compiler = fake(tmp_path, name="a folder/fake++", script=PICKY.replace("for word", check, 1))
    assert compiles_silently(tmp_path, f"{quote(str(compiler))} '-DTEXT=a b'")


@pytest.mark.parametrize("command", ["g++ 'x", 'g++ "x', "g++ x\\"])
def test_bad_quotation(tmp_path, command):
    done = run(tmp_path, CXX=command)
    assert done.returncode == 0 and done.stdout.startswith("0 "), done.stdout + done.stderr
    for words in ("CXX", command, "quote its words as for a shell"):
        assert words in done.stdout
    text = doctor(tmp_path, command)
    assert "BAD  compiler" in text and command in text and "way out: quote" in text


def test_bad_quotation_of_further_flags(tmp_path):
    program = PROGRAM.replace("import accel\n", "import accel\naccel.config.extra_flags = '\"-O1'\n", 1)
    done = run(tmp_path, "-c", program)
    assert done.returncode == 0 and "extra_flags" in done.stdout and '"-O1' in done.stdout, done.stdout + done.stderr


INTRINSICS = """
import numpy as np
import accel
from support.compiled import facts

x, y = np.linspace(0, 1, 4000), np.linspace(2, 3, 4000)
for function in (
    lambda x, y: np.dot(x, y) * 2,
    lambda x, y: (x.astype("c16") * (y + 1j)).sum(),
    lambda x, y: np.floor(x * 9) + np.where(y > x, y, x).argmax(),
    lambda x, y: np.hypot(x, y)[x > 0.5],
):
    call = accel.compile(function)
    assert np.asarray(call(x, y)).tobytes() == np.asarray(function(x, y)).tobytes()
    assert facts(call)["compiles"] == 1
"""
COMPILERS = ["g++", "clang++", *(f"{kind}-{number}" for kind in ("g++", "clang++") for number in range(12, 24))]


@pytest.mark.parametrize("name", COMPILERS)
def test_builtin_functions_that_each_compiler_has(name, tmp_path):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = run(tmp_path, "-c", INTRINSICS, CXX=name, ACCEL_STRICT=1)
    assert done.returncode == 0, done.stderr
