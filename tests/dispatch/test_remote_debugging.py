"""Code that another process, or this one, sends by sys.remote_exec (PEP 768) runs between compiled calls."""

import os
import sys

import numpy as np
import pytest
from support.compiled import facts

import accel

seen = []


def total(x):
    out = 0.0
    for i in range(x.shape[0]):
        out += x[i] * i % 3
    return out


@pytest.mark.skipif(not hasattr(sys, "remote_exec"), reason="new in Python 3.14")
def test_sent_code_runs(tmp_path):
    call, x = accel.compile(total), np.arange(1000.0)
    expected = [call(x), call(x)]
    script = tmp_path / "sent.py"
    script.write_text(f"import sys; sys.modules[{__name__!r}].seen.append(1)\n")
    try:
        sys.remote_exec(os.getpid(), str(script))
    except (PermissionError, RuntimeError) as error:
        pytest.skip(f"this process may not be debugged: {error}")
    for _ in range(100):
        expected.append(call(x))
    assert seen == [1] and len(set(expected)) == 1
    assert facts(call)["compiled"] == 102 and facts(call)["interpreted"] == 0
