"""Settings, stances, explain, stats, logs, the doctor, and the cost of importing accel."""

import logging
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import accel

X = np.arange(5.0)


def run(code, *, arguments=(), **environment):
    """A fresh interpreter; ACCEL_STRICT is off unless given."""
    env = {**os.environ, "ACCEL_STRICT": "", **environment}
    command = [sys.executable, *arguments, "-c", code] if code else [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


CALL = """
import numpy as np, accel
@accel.compile
def f(x):
    return x * 2 + 1
x = np.arange(3.0)
f(x); f(x)
print(accel.stats(f))
"""


def test_config():
    before = accel.config.recompile_limit
    with accel.config(recompile_limit=3, threads=1):
        assert accel.config.recompile_limit == 3 and accel.config.threads == 1
    assert accel.config.recompile_limit == before
    assert "recompile_limit = " in repr(accel.config) and "threads" in dir(accel.config)
    accel.config.logs = ["breaks", "cache"]
    assert accel.config.logs == ["breaks", "cache"]
    accel.config.logs = []


@pytest.mark.parametrize(
    ("name", "value"),
    [("threads", -1), ("threads", "many"), ("threads", True), ("logs", ["no"]), ("missing", 1), ("dump_dir", 3)],
)
def test_bad_settings(name, value):
    with pytest.raises(accel.SettingError, match=name):
        setattr(accel.config, name, value)


def test_unknown_setting_lists_the_others():
    with pytest.raises(accel.SettingError, match="recompile_limit"):
        accel.config.missing  # noqa: B018


def test_stance_force_eager():
    call = accel.compile(lambda x: x + 1)
    with accel.set_stance("force_eager"):
        assert np.array_equal(call(X), X + 1)
    assert accel.stats(call)["interpreted"] == 1
    call(X)
    assert accel.stats(call)["compiled"] == 1


def test_stance_fail_on_recompile():
    call = accel.compile(lambda x: x + 1)
    with accel.set_stance("fail_on_recompile"):
        call(X)
        call(X[:2])
        with pytest.raises(accel.RecompileError, match="x is ndarray float64"):
            call(X.astype("f4"))
    call(X.astype("f4"))
    assert accel.stats(call)["recompiles"] == 1


def test_stance_fail_on_fallback():
    def f(x, out):
        y = x + 1
        out.append(y)
        return y

    call, seen = accel.compile(f), []
    call(X, seen)
    with accel.set_stance("fail_on_fallback"), pytest.raises(accel.UnsupportedError):
        accel.compile(lambda x: dir(x + 1))(X)
    assert accel._accel.get_stance() == "default"


def test_stance_stays_without_with():
    accel.set_stance("force_eager")
    assert accel._accel.get_stance() == "force_eager"
    accel.set_stance("default")


def broken(x):
    y = x + 1
    dir()
    return y * 2


def test_fullgraph_error_has_three_lines():
    call = accel.compile(broken, fullgraph=True)
    with pytest.raises(accel.UnsupportedError) as error:
        call(X)
    what, place, way_out = str(error.value).splitlines()
    assert "broken" in what and "dir" in what and error.value.reason in what
    assert place.strip() == f"{__file__}:{broken.__code__.co_firstlineno + 2}: dir()"
    assert way_out.strip().startswith("way out: ")
    assert (error.value.filename, error.value.lineno) == (__file__, broken.__code__.co_firstlineno + 2)


def test_explain():
    explanation = accel.explain(broken)(X)
    assert np.array_equal(explanation.result, (X + 1) * 2)
    assert not explanation.compiled and explanation.partly
    (fallback,) = explanation.fallbacks
    assert fallback.filename == __file__ and fallback.lineno == broken.__code__.co_firstlineno + 2
    assert "way out" in str(explanation) and "dir()" in str(explanation)
    assert [o["op"] for o in explanation.operations][-1] == "add"


def test_explain_a_whole_function():
    call = accel.compile(lambda x: np.exp(x) + 1)
    explanation = accel.explain(call)(X)
    assert explanation.compiled and not explanation.fallbacks
    assert explanation.loops == ["exp(float64) -> float64"]
    assert "accel_kernel" in explanation.source and explanation.passes and explanation.program
    assert explanation.steps[-1]["name"] == "number_variables"
    assert any(step["name"] == "lower_nests" and step["text"].startswith("program ") for step in explanation.steps)
    assert explanation.stats["calls"] == 1 and "compiled as a whole" in str(explanation)


def test_explain_recompiles():
    call = accel.compile(lambda x: x + 1)
    call(X)
    explanation = accel.explain(call)(X.astype("f4"))
    assert explanation.version == 1 and explanation.versions == 2 and not explanation.fallbacks
    assert ["x is ndarray float64" in event.detail for event in explanation.recompiles] == [True]
    assert "compiled again because of:" in str(explanation)


def test_explain_an_exception():
    explanation = accel.explain(lambda x: x + [1, 2])(X)
    assert isinstance(explanation.exception, ValueError) and "ValueError" in str(explanation)


def test_reset():
    call, other = accel.compile(lambda x: x + 1), accel.compile(lambda x: x + 2)
    call(X), other(X)
    accel.reset(call)
    assert accel.stats(call)["calls"] == 0 and accel.stats(other)["calls"] == 1
    accel.reset()
    assert accel.stats(other)["calls"] == 0
    assert np.array_equal(call(X), X + 1)


def test_stats_counts():
    call = accel.compile(lambda x: x + 1)
    for x in (X, X[:0], X[::2], X.astype("i4")):
        call(x)
    assert accel.stats(call) | {"cache_hits": 0} == {
        "calls": 4, "compiled": 4, "interpreted": 0, "side_exits": 0, "recompiles": 2, "cache_hits": 0
    }  # fmt: skip


def test_cache_info():
    accel.compile(lambda x: x * 1.25)(X)
    info = accel.cache_info()
    assert info.path == os.environ["ACCEL_CACHE_DIR"] and info.entries > 0 and info.problem == ""


def test_logs(caplog):
    accel.config.logs = ["recompiles", "guards", "output_code", "breaks"]
    try:
        with caplog.at_level(logging.DEBUG, logger="accel"):
            call = accel.compile(lambda x: x * 3)
            call(X), call(X.astype("f4")), accel.explain(broken)(X)
    finally:
        accel.config.logs = []
    names = {record.name for record in caplog.records}
    assert names == {"accel.recompiles", "accel.guards", "accel.output_code", "accel.breaks"}


def test_logs_by_environment():
    topics = ["guards", "passes", "schedule", "cache"]
    done = run(CALL, ACCEL_LOGS=",".join(topics))
    assert all(f"[accel.{topic}]" in done.stderr for topic in topics)
    assert "output_code" not in done.stderr


def test_log_of_capture(caplog):
    """Each instruction with its place and what came of it."""

    def scaled(x):
        y = x * 3 + 1
        return y * eval("2")

    with accel.config(logs=["capture"]), caplog.at_level(logging.DEBUG, logger="accel"):
        accel.compile(scaled)(X)
    [record] = [r.getMessage() for r in caplog.records if r.name == "accel.capture"]
    line = scaled.__code__.co_firstlineno + 1
    assert f"{__file__}:{line} binary_op -> constant, multiply" in record
    assert f"{__file__}:{line + 1} load_global eval" in record and "-> unsupported_call" in record


def test_disabled_by_environment():
    assert "'interpreted': 2" in run(CALL, ACCEL_DISABLE="1").stdout


def test_ignored_environment_is_reported_once():
    done = run(CALL, ACCEL_STRESS_EXITS="x")
    assert done.stderr.count("AccelWarning") == 1 and "ACCEL_STRESS_EXITS" in done.stderr


def test_no_compiler(tmp_path):
    environment = {"PATH": str(tmp_path), "CXX": "", "ACCEL_CACHE_DIR": str(tmp_path / "cache")}
    done = run(CALL, **environment)
    assert done.returncode == 0 and "'interpreted': 2" in done.stdout
    assert done.stderr.count("AccelWarning") == 1 and "install g++" in done.stderr
    strict = run(CALL, **environment, ACCEL_STRICT="1")
    assert strict.returncode == 1 and "InternalError" in strict.stderr and "no_compiler" in strict.stderr


def test_doctor():
    done = run("", arguments=("-m", "accel", "doctor"))
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("compiler:", "flags:", "disk cache:", "CPU:", "NumPy", "GPU:", "trial:"):
        assert word in done.stdout
    assert "BAD" not in done.stdout and "trial: compiled, right result" in done.stdout


def test_doctor_without_compiler(tmp_path):
    done = run("", arguments=("-m", "accel", "doctor"), PATH=str(tmp_path), CXX="", ACCEL_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 1 and "BAD  compiler" in done.stdout and "way out: install g++" in done.stdout
    assert "BAD  trial: not compiled (no_compiler: no C++ compiler was found), right result" in done.stdout
    assert done.stderr == ""


def test_command_line_usage():
    assert run("", arguments=("-m", "accel")).returncode == 2
    assert run("", arguments=("-m", "accel", "--help")).returncode == 0


def test_import_loads_accel_alone():
    code = "import sys, numpy; before = set(sys.modules); import accel; print(*sorted(set(sys.modules) - before))"
    added = run(code).stdout.split()
    assert all(name.startswith(("accel", "__future__")) for name in added), added


def test_warning_once(tmp_path):
    code = CALL.replace("f(x); f(x)", "f(x); f(x.astype('f4')); f(x)")
    done = run(code, PATH=str(tmp_path), CXX="", ACCEL_CACHE_DIR=str(tmp_path))
    assert done.stderr.count("AccelWarning") == 1


def test_public_names():
    assert set(accel.__all__) <= set(dir(accel))
    assert accel.list_backends() == ["native", "numpy"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accel.compile(lambda x: x)(X)
