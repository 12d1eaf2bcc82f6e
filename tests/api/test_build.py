"""A build from source that lacks something says so in one line, with the way out, before anything is compiled."""

import importlib.util
import sysconfig
from pathlib import Path

import pytest
from host_compiler import host_compiler, shell_text

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def backend(monkeypatch):
    """The build backend, loaded in the folder of the project as builders do."""
    pytest.importorskip("scikit_build_core")
    monkeypatch.chdir(ROOT)
    for name in ("CXX", "CMAKE_ARGS", "SKBUILD_CMAKE_DEFINE", "CMAKE_TOOLCHAIN_FILE"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("accel_build", ROOT / "python" / "accel_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refusal(backend, hook="get_requires_for_build_wheel", *arguments):
    with pytest.raises(SystemExit) as raised:
        getattr(backend, hook)(*arguments)
    text = str(raised.value)
    assert text.startswith("accel-numpy cannot be built: ") and "\n" not in text and len(text) < 200
    return text


def fake_compiler(folder, script):
    """Writes a shell script that plays a compiler; in it, COMPILER stands for the real one."""
    path = folder / "c++"
    path.write_text("#!/bin/sh\n" + script.replace("COMPILER", shell_text()) + "\n")
    path.chmod(0o755)
    return str(path)


def test_this_machine_can_build(backend):
    for hook in ("get_requires_for_build_wheel", "get_requires_for_build_editable"):
        assert any(name.startswith("numpy>=") for name in getattr(backend, hook)())


def test_metadata_needs_no_build(backend, tmp_path):
    name = backend.prepare_metadata_for_build_wheel(str(tmp_path))
    assert "Name: accel-numpy" in (tmp_path / name / "METADATA").read_text()


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_no_compiler(backend, hook, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(backend, hook).endswith("no C++ compiler is there: sudo apt install g++ python3-dev")
    build = hook.replace("get_requires_for_", "")
    assert "no C++ compiler is there" in refusal(backend, build, str(tmp_path)) and not list(tmp_path.iterdir())


def test_another_compiler(backend, monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", "nonexistent++ -m64")
    assert "nonexistent++, is not there" in refusal(backend)
    compiler = fake_compiler(tmp_path, "echo c++: broken >&2; echo more >&2; exit 3")
    monkeypatch.setenv("CXX", compiler)
    assert f"{compiler} does not work (c++: broken)" in refusal(backend)
    monkeypatch.setenv("CMAKE_ARGS", f"-DCMAKE_CXX_COMPILER={host_compiler()[0]}")
    backend.get_requires_for_build_wheel()


@pytest.mark.parametrize(
    "script", ['exec COMPILER "$@" -std=c++17', 'case "$*" in *c++20*) exit 1;; *) exec COMPILER "$@";; esac']
)
def test_old_compiler(backend, monkeypatch, tmp_path, script):
    """Before 11, g++ knows C++20 in part; before 10, not the option either."""
    monkeypatch.setenv("CXX", fake_compiler(tmp_path, script))
    text = refusal(backend)
    assert "too old for C++20" in text and "sudo apt install g++" in text


def test_no_openmp(backend, monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", fake_compiler(tmp_path, 'case "$*" in *-fopenmp*) exit 1;; *) exec COMPILER "$@";; esac'))
    assert "has no OpenMP" in refusal(backend)


def test_no_headers_of_python(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    text = refusal(backend)
    assert "C headers of Python 3." in text and "sudo apt install g++ python3." in text and text.endswith("-dev")


@pytest.mark.parametrize("version", ["3.10.4", "3.99.0", "3.99.0b1"])
def test_unsupported_python(backend, monkeypatch, version):
    monkeypatch.setattr(backend.platform, "python_version", lambda: version)
    assert f"and this is {version}: use another Python" in refusal(backend)


def test_free_threaded_python(backend, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: int(name == "Py_GIL_DISABLED"))
    assert "free-threaded build of Python" in refusal(backend)
