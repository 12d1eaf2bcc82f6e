"""A compile that takes long says so, to a person who waits: which function it is and what is large about it."""

import os
import pty
import subprocess
import sys

import pytest
from host_compiler import shell_text

PROGRAM = """
import sys
import numpy as np
import accel

def work(x, n):
    for k in range(n):
        x = np.sqrt(x * x + k)
    return x

call = accel.compile(work)
call(np.ones(5), 3)
call(np.ones(5), 4)
"""

SLOW = """#!/bin/sh
sleep 0.3
exec REAL "$@"
"""


def run(tmp_path, program=PROGRAM, *, arguments=(), on_terminal=True, **environment):
    """What a new process writes to stderr."""
    compiler = tmp_path / "slow-compiler"
    compiler.write_text(SLOW.replace("REAL", shell_text()))
    compiler.chmod(0o755)
    settings = {k: v for k, v in os.environ.items() if not k.startswith(("ACCEL_", "PYTHONWARNINGS"))}
    settings.update({"ACCEL_CACHE_DIR": str(tmp_path / "cache"), "CXX": str(compiler), "ACCEL_SLOW_COMPILE": "0.25"})
    settings.update(environment)
    main, side = pty.openpty() if on_terminal else os.pipe()
    subprocess.run([sys.executable, *arguments, "-c", program], env=settings, stderr=side, check=True, timeout=120)
    os.close(side)
    text = b""
    try:
        while part := os.read(main, 4096):
            text += part
    except OSError:  # the terminal's other end is closed
        pass
    os.close(main)
    return text.decode()


def test_on_a_terminal(tmp_path):
    text = run(tmp_path)
    assert text.count("work (<string>:6)") == 1, text
    assert " s" in text and "operations" in text


def test_a_quick_compile_says_nothing(tmp_path):
    assert run(tmp_path, ACCEL_SLOW_COMPILE="100") == ""


def test_not_where_nobody_waits(tmp_path):
    assert run(tmp_path, on_terminal=False) == ""


@pytest.mark.parametrize("arguments", [("-W", "ignore"), ("-Wignore::UserWarning",)], ids=["all", "of accel"])
def test_not_where_warnings_are_ignored(tmp_path, arguments):
    assert run(tmp_path, arguments=arguments) == ""


def test_not_where_a_setting_says_so(tmp_path):
    assert run(tmp_path, ACCEL_SLOW_COMPILE="0") == ""
    assert run(tmp_path, PROGRAM.replace("call =", "accel.config.slow_compile = 0\ncall =")) == ""


def test_wherever_stderr_leads_when_the_topic_is_on(tmp_path):
    assert "work (<string>:6)" in run(tmp_path, on_terminal=False, ACCEL_LOGS="slow_compiles")


def test_in_a_notebook(tmp_path):
    program = (
        """
import io, sys
class OutStream(io.StringIO):
    pass
OutStream.__module__ = "ipykernel.iostream"
sys.stderr = OutStream()
"""
        + PROGRAM
        + "\nsys.__stderr__.write(sys.stderr.getvalue())"
    )
    assert "operations" in run(tmp_path, program, on_terminal=False)


def test_the_handlers_of_the_application_get_the_record(tmp_path):
    program = "import logging\nlogging.basicConfig(format='APP %(name)s %(message)s', level=10)\n" + PROGRAM
    assert "APP accel.slow_compiles " in run(tmp_path, program)
