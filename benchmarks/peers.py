"""The contestants. A peer turns a case into a callable of the case's NumPy inputs that gives NumPy results."""

import contextlib
import importlib.util
import signal
import types
import warnings

import numpy as np

from benchmarks.case import as_tuple
from benchmarks.measure import Contestant


def numpy_peer(case, inputs):
    return case.function


def accel_peer(case, inputs):
    import accel

    return accel.compile(case.function)


def torch_peer(case, inputs):
    import torch

    return torch.compile(case.function)


def numba_peer(case, inputs):
    import numba

    parallel = case.large if case.parallel is None else case.parallel
    return numba.njit(parallel=parallel)(with_helpers(case.numba or case.function, numba.njit(parallel=parallel)))


def jax_peer(case, inputs):
    import jax

    jax.config.update("jax_enable_x64", True)
    jitted = jax.jit(case.jax or with_module(case.function, jax.numpy))

    def call(*arguments):
        result = jitted(*arguments)
        return tuple(np.asarray(r) for r in result) if isinstance(result, tuple) else np.asarray(result)

    return call


def with_globals(function, replace):
    """A copy of the function whose globals are replaced where `replace(value)` gives something."""
    space = dict(function.__globals__)
    copy = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    for name, value in function.__globals__.items():
        new = replace(value)
        if new is not None:
            space[name] = new
    return copy


def is_helper(function, value):
    return isinstance(value, types.FunctionType) and value is not function and value.__module__ == function.__module__


def with_module(function, module):
    """The function and its helpers, with `np` standing for another module."""

    def replace(value):
        if value is np:
            return module
        return with_module(value, module) if is_helper(function, value) and uses(function, value) else None

    return with_globals(function, replace)


def with_helpers(function, wrap):
    """The function with its helpers wrapped, and theirs."""

    def replace(value):
        return wrap(with_helpers(value, wrap)) if is_helper(function, value) and uses(function, value) else None

    return with_globals(function, replace)


def uses(function, value):
    return value.__name__ in function.__code__.co_names


PEERS = {"numpy": numpy_peer, "accel": accel_peer, "torch": torch_peer, "numba": numba_peer, "jax": jax_peer}


def installed():
    return [name for name in PEERS if importlib.util.find_spec(name)]


def ceiling_callables(case, expected):
    """Hand-written C++ as callables that give results: into one recycled buffer, and into fresh memory."""
    shapes = [(r.shape, r.dtype) for r in expected]
    found = {}
    for name, ceiling in case.ceilings.items():
        kept = tuple(np.ones(shape, dtype) for shape, dtype in shapes)

        def recycled(*inputs, run=ceiling.run, results=kept):
            run(*inputs, *results)
            return results

        def fresh(*inputs, run=ceiling.run):
            results = tuple(np.empty(shape, dtype) for shape, dtype in shapes)
            run(*inputs, *results)
            return results

        found[name], found[f"{name}, fresh"] = recycled, fresh
    return found


@contextlib.contextmanager
def result_pool_off():
    """accel without its pool of result memory. Results must be freed inside, or they go into the pool after all."""
    import accel

    with accel.config(result_pool_bytes=0):
        yield


@contextlib.contextmanager
def patience(seconds):
    """Ends what is inside by a TimeoutError after so many seconds; 0: never."""

    def give_up(*_):
        raise TimeoutError(f"not compiled in {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def prepare(case, inputs, names, fresh, seconds=0):
    """Callables by peer, each called twice, and how each result compares with NumPy's.

    A peer that fails, or that needs more than `seconds` for its two calls, is left out; its verdict is the error.
    """
    arguments = inputs.fresh()
    expected = inputs.effects(case.run(case.function)(*arguments), arguments)
    calls, verdicts = {}, {}
    for name in names:
        try:
            with warnings.catch_warnings(), patience(seconds):
                warnings.simplefilter("ignore")
                calls[name] = case.run(PEERS[name](case, inputs))
                arguments = inputs.fresh()
                verdicts[name] = compare(inputs.effects(calls[name](*arguments), arguments), expected)
                calls[name](*inputs.fresh())
        except Exception as error:  # a peer that cannot run the case is a line of the table
            calls.pop(name, None)
            verdicts[name] = f"failed: {type(error).__name__}: {str(error).strip().splitlines()[0][:80] if str(error) else ''}"
    if fresh and "accel" in calls:
        calls["accel, fresh"] = Contestant(calls["accel"], result_pool_off)
    for name, call in ceiling_callables(case, [np.asarray(r) for r in expected]).items():
        verdict = compare(as_tuple(call(*inputs.fresh())), expected)
        if verdict != "same bits":
            raise AssertionError(f"{case.name}: the {name} differs from NumPy ({verdict})")
        if fresh or "fresh" not in name:
            calls[name], verdicts[name] = call, verdict
    return calls, verdicts


def compare(results, expected):
    """`same bits`, or the greatest difference, or what is different altogether."""
    if len(results) != len(expected):
        return f"{len(results)} results instead of {len(expected)}"
    worst = 0.0
    for got, want in zip(map(np.asarray, results), map(np.asarray, expected), strict=True):
        if want.dtype.hasobject:
            continue
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
        if got.tobytes() != want.tobytes():
            with np.errstate(all="ignore"):
                difference = np.nanmax(np.abs(got.astype(want.dtype.char if want.dtype.kind in "fc" else float) - want))
                difference = difference / np.nanmax(np.abs(want))
            worst = max(worst, float(difference), np.finfo(np.float64).tiny)
    return "same bits" if worst == 0 else f"differs by {worst:.1e} of the greatest value"
