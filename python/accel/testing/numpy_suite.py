"""A plugin of pytest: ``python -m pytest -p accel.testing.numpy_suite --pyargs numpy``.

Each test runs twice unchanged, then three times with the functions of its module compiled. A test fails when a compiled run
differs from the plain ones; see docs/testing.md.
"""

from __future__ import annotations

import fnmatch
import sys
import tomllib
import unittest
import warnings
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from ..config import config as settings
from ._compiled_modules import CompiledModule, RecordedAsserts
from ._coverage import Coverage
from ._observations import Observation, current, differences, observing, seed, state_of, text_of

__all__ = ["CompiledSuite"]

_CANNOT_HOLD = Path(__file__).with_name("cannot_hold.toml")
_PLAIN_RUNS = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("accel", "compiled tests")
    group.addoption("--accel-calls", type=int, default=3, metavar="N", help="compiled runs of each test (3)")
    group.addoption("--accel-backend", default="native", help="backend of the compiled functions (native)")
    group.addoption(
        "--accel-cannot-hold", action="append", default=[], metavar="FILE", help="further tests that cannot hold (TOML)"
    )
    group.addoption("--accel-trace", metavar="FILE", help="append the name of each test to FILE before its compiled runs")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin."""
    config.pluginmanager.register(CompiledSuite(config), "accel-compiled-suite")


def cannot_hold(files: list[str]) -> list[tuple[str, str]]:
    """Return pattern and reason of the tests that cannot hold in compiled code."""
    found = []
    for file in [_CANNOT_HOLD, *map(Path, files)]:
        found += [(row["test"], row["reason"]) for row in tomllib.loads(file.read_text())["cannot_hold"]]
    return found


class _Sibling:
    """Stands for a next test in the same class, so that the runs of one test share the fixtures of class and module."""

    def __init__(self, item: pytest.Item) -> None:
        self._parents = item.listchain()[:-1]

    def listchain(self) -> list[Any]:
        """Return the collectors that contain the test."""
        return self._parents


def _failed_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """Tear down the fixtures of class and module that the next test does not share, and return the report when it fails."""
    call = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), "teardown")
    return [] if call.excinfo is None else [item.ihook.pytest_runtest_makereport(item=item, call=call)]


class CompiledSuite:
    """Runs tests plain and compiled, compares, and counts."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.calls: int = config.getoption("--accel-calls")
        self.cannot_hold = cannot_hold(config.getoption("--accel-cannot-hold"))
        self.coverage = Coverage()
        self.asserts = RecordedAsserts()
        self.module: CompiledModule | None = None  # the module whose functions are replaced now
        self.plain: dict[str, tuple[list[Observation], list[pytest.TestReport]]] | None = None
        self.is_plain_phase = False
        self.tests = 0
        settings.strict = True

    # Running

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run one test compiled. Before the first test of a module, run all its tests plain."""
        if not isinstance(item, pytest.Function):
            return None
        if self.is_plain_phase:
            self._run_plain(item, nextitem)
            return True
        self._enter_module(item)
        assert self.plain is not None
        self.tests += 1
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._run_compiled(item, nextitem):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _enter_module(self, item: pytest.Function) -> None:
        if self.module is not None and self.module.module is item.module and self.plain and item.nodeid in self.plain:
            return
        self._leave_module()
        self.module = CompiledModule(item.module, self.config.getoption("--accel-backend"))
        self._record_asserts(item.module)
        items = [i for i in item.session.items if isinstance(i, pytest.Function) and i.module is item.module]
        self.plain, self.is_plain_phase = {}, True
        try:
            for this, following in zip(items, [*items[1:], item], strict=True):
                this.ihook.pytest_runtest_protocol(item=this, nextitem=following)
        finally:
            self.is_plain_phase = False
        self.module.install()

    def _record_asserts(self, module: ModuleType) -> None:
        for name, other in list(sys.modules.items()):
            if name.rpartition(".")[2] == "testing" and name != __package__:
                self.asserts.install(other)
        self.asserts.install(unittest.TestCase)
        self.asserts.install(module, getattr(module, "__file__", None))

    def _leave_module(self) -> None:
        if self.module is None:
            return
        for function in self.module.functions():
            self.coverage.add(function)
        self.module.uninstall()
        self.asserts.uninstall()
        self.module = None

    def _run_plain(self, item: pytest.Function, nextitem: pytest.Item | None) -> None:
        assert self.plain is not None
        runs = [self._observe(item) for _ in range(_PLAIN_RUNS)]
        self.plain[item.nodeid] = [run for run, _ in runs], [*runs[-1][1], *_failed_teardown(item, nextitem)]

    def _run_compiled(self, item: pytest.Function, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
        """Return the reports of the plain run; one of them has the difference of a compiled run, if any."""
        assert self.plain is not None
        (first, second), reports = self.plain[item.nodeid]
        trace = self.config.getoption("--accel-trace")
        if trace:
            with open(trace, "a") as file:
                file.write(item.nodeid + "\n")
        for number in range(1, self.calls + 1):
            found, compiled_reports = self._observe(item)
            lines = differences(first, second, found)
            if lines:
                reports = self._differing(item, number, lines, reports, compiled_reports)
                break
        return [*reports, *_failed_teardown(item, nextitem)]

    def _differing(
        self,
        item: pytest.Function,
        number: int,
        lines: list[str],
        plain: list[pytest.TestReport],
        compiled: list[pytest.TestReport],
    ) -> list[pytest.TestReport]:
        test = item.nodeid.partition("::")[2]
        names = [f"{module}::{test}" for module in (item.module.__name__, _module_of(item.path))]
        found = (why for pattern, why in self.cannot_hold for name in names if fnmatch.fnmatchcase(name, pattern))
        expected = next(found, None)
        chosen = plain[-1] if expected is not None else plain[1 if len(plain) > 2 else 0]
        kind = "differs" if expected is None else "cannot hold"
        chosen.user_properties.append(("accel " + kind, lines[0]))
        if expected is None:
            text = [f"compiled run {number} of {item.nodeid} differs from the plain runs:", *("  " + line for line in lines)]
            failed = next((r for r in compiled if r.failed), None)
            if failed is not None:
                text += ["", "the compiled run:", failed.longreprtext]
            chosen.outcome, chosen.longrepr = "failed", "\n".join(text)
        return plain

    def _observe(self, item: pytest.Function) -> tuple[Observation, list[pytest.TestReport]]:
        _renew(item)
        seed()
        before = state_of(item.module)
        with observing(Observation()) as run:
            with warnings.catch_warnings(record=True) as caught:
                reports = runtestprotocol(item, log=False, nextitem=_Sibling(item))  # type: ignore[arg-type]
            run.note_warnings(caught)
            run.note_changes(before, state_of(item.module))
        for warning in caught:
            warnings.showwarning(
                warning.message, warning.category, warning.filename, warning.lineno, warning.file, warning.line
            )
        for report in reports:
            run.outcomes[report.when or ""] = report.outcome
        if reports:
            run.note_output(reports[-1].sections)
        item._report_sections.clear()
        return run, reports

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Note the exception that ended a phase."""
        run = current()
        if run is not None and call.excinfo is not None:
            run.note_exception(call.when, call.excinfo.value, str(item.path))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
        """Note the arguments and the instance after the call."""
        try:
            return (yield)
        finally:
            run = current()
            if run is not None:
                run.state |= {f"argument {name}": text_of(value) for name, value in pyfuncitem.funcargs.items()}
                run.state["self"] = text_of(pyfuncitem.instance)

    # Reporting

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Pass the counts to the process that reports them."""
        self._leave_module()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["accel"] = self.coverage.data() | {"tests": self.tests}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Add the counts of a worker of pytest-xdist."""
        data = getattr(node, "workeroutput", {}).get("accel")
        if data is not None:
            self.coverage.add_data(data)
            self.tests += data["tests"]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Report what was compiled, and what differed."""
        counts = {"differs": 0, "cannot hold": 0}
        for report in [r for reports in terminalreporter.stats.values() for r in reports]:
            for name, _ in getattr(report, "user_properties", ()):
                kind = str(name).removeprefix("accel ")
                counts[kind] = counts.get(kind, 0) + (kind in counts)
        terminalreporter.section("accel")
        terminalreporter.line(
            f"tests:     {self.tests}, each run {_PLAIN_RUNS} times plain and {self.calls} times compiled; "
            f"{counts['differs']} differ, {counts['cannot hold']} more are listed as unable to hold"
        )
        for line in self.coverage.lines():
            terminalreporter.line(line)


def _module_of(path: Path) -> str:
    """Return the dotted name of a file in its package; pytest's is shorter when the folder of the tests is not a package."""
    packages = [folder for folder in path.parents if (folder / "__init__.py").exists()]
    return ".".join(path.with_suffix("").relative_to(packages[-1].parent).parts) if packages else path.stem


def _renew(item: pytest.Function) -> None:
    """Reset the item, so that the next run uses a new instance, and the current function of its module or class."""
    for name in ("_instance", "_obj"):
        item.__dict__.pop(name, None)
