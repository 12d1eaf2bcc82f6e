"""Device code: NVRTC as it is installed, the disk cache, and what is said when either does not work. Needs no GPU."""

import json
import os
import subprocess
import sys
import threading

import pytest

from accel import _accel, _cuda

TEXT = """
template <class T>
static inline __attribute__((always_inline)) T twice(T a) {
  auto add = [&](T b) { return a + b; };
  return add(a);
}
extern "C" __global__ void kernel(double* p, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) p[i] = twice(exp(p[i])) / 3.0;
}
"""


def compile_apart(tmp_path, text=TEXT, architecture=90, folders=None, **environment):
    """In a fresh process: (bytes of the CUBIN, reason, detail, whether NVRTC was loaded, hits of the cache)."""
    code = """
import json, sys
from accel import _accel
text, architecture, folders = json.loads(sys.stdin.read())
if folders is not None:
    _accel.set_cuda_library_folders(folders)
cubin, reason, detail = _accel.compile_device_code(text, architecture)
loaded = "libnvrtc" in open("/proc/self/maps").read()
print(json.dumps([len(cubin), cubin[:4] == b"\\x7fELF", reason, detail, loaded, _accel.cache_info()["hits"]]))
"""
    own = {"ACCEL_CACHE_DIR": str(tmp_path / "cache"), "ACCEL_STRICT": "", "ACCEL_NVRTC": ""}  # not the emulated NVRTC
    env = {**os.environ, **own, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([text, architecture, folders]),
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    size, is_elf, reason, detail, loaded, hits = json.loads(done.stdout)
    assert is_elf == (size > 0) == (not reason)
    return size, reason, detail, loaded, hits


@pytest.mark.needs_nvrtc
def test_compile_then_a_hit_without_nvrtc(tmp_path):
    size, reason, detail, loaded, hits = compile_apart(tmp_path)
    assert size > 0 and not reason and loaded and hits == 0, detail
    again = compile_apart(tmp_path)
    assert again == (size, "", "", False, 1)
    # A warm start works where NVRTC is not there any more.
    assert compile_apart(tmp_path, folders=[]) == (size, "", "", False, 1)
    # That of a library which the user names is another one.
    assert compile_apart(tmp_path, ACCEL_NVRTC="/nowhere/libnvrtc.so")[1] == "no_nvrtc"


@pytest.mark.needs_nvrtc
def test_each_architecture_and_text_has_an_entry(tmp_path):
    for text, architecture in ((TEXT, 90), (TEXT, 80), (TEXT + "\n", 90)):
        size, reason, detail, loaded, hits = compile_apart(tmp_path, text, architecture)
        assert size > 0 and loaded and hits == 0, detail


@pytest.mark.needs_nvrtc
def test_an_architecture_that_nvrtc_does_not_know(tmp_path):
    size, reason, detail, _, _ = compile_apart(tmp_path, architecture=99)  # 9.9: the newest of 9.x
    assert size > 0, detail
    size, reason, detail, _, _ = compile_apart(tmp_path, architecture=20)
    assert reason == "nvrtc_failed" and "sm_20" in detail


@pytest.mark.needs_nvrtc
def test_a_damaged_entry_is_compiled_again(tmp_path):
    size = compile_apart(tmp_path)[0]
    (entry,) = (tmp_path / "cache").glob("*.kernel")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert compile_apart(tmp_path)[:4] == (size, "", "", True)


@pytest.mark.needs_nvrtc
def test_an_entry_of_another_version_does_not_count_when_nvrtc_is_loaded(tmp_path):
    """The version is no part of the key: it is known only when NVRTC is loaded."""
    compile_apart(tmp_path)
    (entry,) = (tmp_path / "cache").glob("*.kernel")
    assert b"NVRTC " in entry.read_bytes()[:400]


@pytest.mark.needs_nvrtc
def test_broken_text(tmp_path):
    dumps = tmp_path / "dumps"
    size, reason, detail, _, _ = compile_apart(
        tmp_path, 'extern "C" __global__ void f() { int a = b; }', ACCEL_DUMP_DIR=str(dumps)
    )
    messages = ('identifier "b" is undefined', "‘b’ was not declared")  # NVRTC's, and that of the emulated one
    assert size == 0 and reason == "nvrtc_failed" and any(text in detail for text in messages) and "\n" not in detail
    assert {path.suffix for path in dumps.iterdir()} == {".cu", ".log"}


@pytest.mark.needs_nvrtc
def test_dumps(tmp_path):
    dumps = tmp_path / "dumps"
    for _ in range(2):  # from the cache, too
        compile_apart(tmp_path, ACCEL_DUMP_DIR=str(dumps))
        assert {path.suffix for path in dumps.iterdir()} == {".cu", ".cubin"}
        for path in dumps.iterdir():
            path.unlink()


def test_a_library_that_is_not_there(tmp_path):
    path = str(tmp_path / "libnvrtc.so.13")
    size, reason, detail, loaded, _ = compile_apart(tmp_path, ACCEL_NVRTC=path)
    assert (size, reason, loaded) == (0, "no_nvrtc", False) and path in detail


def test_a_library_that_is_another_one(tmp_path):
    _, reason, detail, _, _ = compile_apart(tmp_path, ACCEL_NVRTC="libm.so.6")
    assert reason == "no_nvrtc" and "lacks nvrtc" in detail


def test_a_file_that_is_no_library(tmp_path):
    (tmp_path / "libnvrtc.so.13").write_text("text")
    _, reason, detail, _, _ = compile_apart(tmp_path, ACCEL_NVRTC=str(tmp_path / "libnvrtc.so.13"))
    assert reason == "no_nvrtc" and "libnvrtc.so.13" in detail


@pytest.mark.needs_nvrtc
def test_threads_share_one_compile(tmp_path):
    before, folder = _accel.cache_info(), _accel.get_setting("cache_dir")
    assert _accel.set_setting("cache_dir", str(tmp_path / "cache")) is None
    try:
        results = []
        threads = [
            threading.Thread(target=lambda: results.append(_accel.compile_device_code(TEXT + "// threads\n", 90)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(results)) == 1 and len(results) == 4 and results[0][0].startswith(b"\x7fELF")
        assert _accel.cache_info()["misses"] - before["misses"] == 1
    finally:
        _accel.set_setting("cache_dir", folder)


@pytest.mark.needs_nvrtc
def test_folders_of_packages():
    assert any(os.path.basename(os.path.dirname(folder)) == "cu13" for folder in _cuda.library_folders())


def test_folders_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path))
    assert str(tmp_path / "lib") in _cuda.library_folders()
