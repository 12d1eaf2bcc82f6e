"""The decoder against `dis`, over the standard library and NumPy."""

import dis
import importlib
import inspect
import pkgutil
import sys
import types
from pathlib import Path

import accel_frames_test as frames
import numpy as np
import pytest

NEXT, BRANCH, JUMP, STOP = range(4)
GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

BRANCHES = {"for_iter", "pop_jump_if_true", "pop_jump_if_false", "pop_jump_if_none", "pop_jump_if_not_none"}
BRANCHES |= {"jump_if_true_or_pop", "jump_if_false_or_pop", "send"}


def codes_in(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


def source_files():
    library = Path(importlib.import_module("os").__file__).parent
    return (
        sorted(library.glob("*.py"))
        + sorted((library / "asyncio").glob("*.py"))
        + sorted(Path(np.__file__).parent.rglob("*.py"))
    )


def all_codes():
    for path in source_files()[::2]:
        try:
            yield from codes_in(compile(path.read_bytes(), str(path), "exec"))
        except SyntaxError:
            continue


def check_depths(code, ops):
    """Walks all paths: a place has one depth, no depth is negative or above co_stacksize, handlers' depths fit."""
    depths, todo = {}, [(0, 0)]
    generator = bool(code.co_flags & GENERATOR)
    while todo:
        index, depth = todo.pop()
        if index in depths:
            assert depths[index] == depth, ops[index]
            continue
        depths[index] = depth
        op = ops[index]
        assert 0 <= depth <= code.co_stacksize + op["part"] + 1, op
        if op["part"] == 0:
            assert depth <= code.co_stacksize, op
        if op["handler"]:
            target, level, lasti = op["handler"]
            assert level <= depth or generator, op
            todo.append((target, level + lasti + 1))
        if op["flow"] in (BRANCH, JUMP):
            todo.append((op["target"], depth + op["taken"]))
        if op["flow"] in (NEXT, BRANCH):
            todo.append((index + 1, depth + op["effect"]))


def native_instructions(code):
    """dis's instructions without prefixes and caches, as (offset of the first prefix, instruction)."""
    start = None
    for i in dis.get_instructions(code):
        if i.opname == "EXTENDED_ARG":
            start = i.offset // 2 if start is None else start
            continue
        yield (i.offset // 2 if start is None else start), i
        start = None


FOLDED = {"PRECALL", "KW_NAMES", "CALL", "CALL_KW"}


def is_folded(name, following):
    """Whether the instruction is part of the call that follows."""
    null_for_mapping = name == "PUSH_NULL" and following == "CALL_FUNCTION_EX"
    return name in ("PRECALL", "KW_NAMES") or following == "CALL_KW" or null_for_mapping


def check_against_dis(code, ops):
    points = {op["offset"]: i for i, op in enumerate(ops) if op["part"] == 0}
    faults = {op["fault_offset"] for op in ops}
    instructions = list(native_instructions(code))
    for number, (start, i) in enumerate(instructions):
        following = instructions[number + 1][1].opname if number + 1 < len(instructions) else ""
        unit = i.offset // 2
        if is_folded(i.opname, following):
            assert unit not in faults
            assert start in points or instructions[number - 1][1].opname in FOLDED
            assert frames.fault_offset(code, start) > unit
            continue
        assert unit in faults, i
        if i.opname not in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            assert start in points, i
            assert frames.fault_offset(code, start) == unit
        check_operands(ops, [op for op in ops if op["fault_offset"] == unit], i, points)


def check_operands(ops, parts, native, points):
    for op in parts:
        assert op["line"] == (native.positions.lineno if native.positions.lineno is not None else -1), native
        if op["op"] in BRANCHES | {"jump"}:
            target = native.argval // 2
            skipped = 2 if sys.version_info >= (3, 13) else 1
            if op["op"] == "for_iter" and ops[points[target]]["op"] == "end_for":
                assert op["target"] == points[target + skipped], native
            else:
                assert op["target"] == points[target], native
        if op["op"] in ("load_attr", "load_method", "store_attr", "import_name", "store_global", "load_name"):
            assert op["object"] == native.argval, native
        if op["op"] == "load_global":
            assert op["object"] == native.argval, native
        if op["op"] == "load_const" and native.opname in ("LOAD_CONST", "RETURN_CONST"):
            assert op["object"] is native.argval, native


@pytest.mark.thorough
def test_the_library_decodes():
    codes = ops_count = 0
    for code in all_codes():
        ops = frames.decode(code)
        ops_count += len(ops)
        codes += 1
        check_depths(code, ops)
        if codes % 7 == 0:
            check_against_dis(code, ops)
    assert codes > 5000 and ops_count > 250000


def handlers_by_dis(code):
    return {unit: entry for entry in dis._parse_exception_table(code) for unit in range(entry.start // 2, entry.end // 2)}


def test_exception_handlers():
    checked = 0
    for code in codes_in(compile(Path(pkgutil.__file__).read_bytes(), "pkgutil.py", "exec")):
        expected = handlers_by_dis(code)
        ops = frames.decode(code)
        for op in ops:
            entry = expected.get(op["fault_offset"])
            if entry is None:
                assert op["handler"] is None
            else:
                target, depth, lasti = op["handler"]
                assert (ops[target]["offset"], depth, bool(lasti)) == (entry.target // 2, entry.depth, entry.lasti)
                checked += 1
    assert checked > 100


def ops_of(source):
    function_code = next(c for c in compile(source, "s", "exec").co_consts if isinstance(c, types.CodeType))
    return [(op["op"], op["arg"], op["arg2"]) for op in frames.decode(function_code)]


CANONICAL = {
    "return f(a, k=b)": ["call 2 0"],
    "a += b": ["binary_op 0 1"],
    "return a ** b": ["binary_op 8 0"],
    "return +a": ["unary_positive 0 0"],
    "return [*a]": ["list_extend 1 0"],
    "return (*a,)": ["list_to_tuple 0 0"],
    "return f'{a!r:>{b}}'": ["convert_value 2 0", "format_with_spec 0 0"],
    "a, *b, c, d = f": ["unpack_ex 1 2"],
    "return lambda x=a, *, y=b: a": ["set_function_attribute 1 0", "set_function_attribute 2 0", "set_function_attribute 8 0"],
    "assert a": ["raise_varargs 1 0"],
    "return f(*a, **b)": ["call_function_ex 1 0"],
    "return a is not b": ["is_op 1 0"],
    "return a not in b": ["contains_op 1 0"],
    "return a >= b": ["compare_op 5 0"],
    "return a.m(b)": ["load_method 0 0", "call 1 0"],
}


@pytest.mark.parametrize("body", CANONICAL)
def test_canonical_forms(body):
    found = [f"{op} {arg} {arg2}" for op, arg, arg2 in ops_of(f"def g(f, a, b, c=0, d=0):\n    {body}\n")]
    for wanted in CANONICAL[body]:
        assert wanted in found, found


def test_decoding_looks_through_specialised_and_instrumented_code():
    def f(a):
        t = 0
        for x in range(a):
            t += x
        return t

    before = frames.decode(f.__code__)
    for _ in range(200):
        f(10)
    sys.settrace(lambda *a: None)
    f(3)
    during = frames.decode(f.__code__)
    sys.settrace(None)
    assert frames.decode(f.__code__) == during == before
