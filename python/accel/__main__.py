"""``python -m accel doctor``: checks what accel needs on this machine, with remedies for problems."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

USAGE = "usage: python -m accel doctor"


def lines(report: dict[str, Any]) -> Iterator[tuple[bool, str, str]]:
    """Yield for each check whether it passed, what was found, and what to do about it."""
    import numpy as np

    import accel

    yield True, f"accel {accel.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}", ""
    compiler = report["compiler"]
    if compiler["works"]:
        yield True, f"compiler: {compiler['path']} ({compiler['version']}), a kernel takes {compiler['seconds']:.2f} s", ""
        yield True, f"flags: {' '.join(compiler['flags'])}", ""
        for flag, purpose in compiler["absent_flags"]:
            yield True, f"the compiler does not understand {flag}, so it is slower than it could be ({purpose})", ""
    else:
        yield False, f"compiler: {compiler['path'] or 'none'}: {compiler['problem']}", compiler["way_out"]
    cache = report["cache"]
    size = f"{cache['entries']} kernels, {cache['bytes'] / 1e6:.1f} MB"
    yield not cache["problem"], f"disk cache: {cache['path']}: {cache['problem'] or size}", report["cache_way_out"]
    yield True, f"CPU: {report['cpu_model']}: {report['cpu_features']}", ""
    omp = f" (OMP_NUM_THREADS={report['omp_num_threads']})" if report["omp_num_threads"] else ""
    yield True, f"threads: {report['threads']} of {report['available_cpus']} CPUs{omp}", ""
    yield True, f"memory: {report['memory_bytes'] / 1e9:.1f} GB, huge pages: {report['huge_pages'] or 'unknown'}", ""
    yield True, f"C library: {report['libc_version']}", ""
    yield from gpu_lines(report["cuda"], report["nvrtc"])
    for problem in report["setting_problems"]:
        yield False, f"setting ignored: {problem}", "correct or unset the environment variable"
    yield from trial()


def gpu_lines(report: dict[str, Any], nvrtc: dict[str, Any]) -> Iterator[tuple[bool, str, str]]:
    """Yield the lines about the driver, its devices and NVIDIA's libraries. That there is no GPU is no fault."""
    absent = report["absent"] or not (report["problem"] or report["devices"])
    if absent:
        found = report["problem"] or "no device"
        yield True, f"GPU: none; compiled functions run on the CPU ({found})", ""
    elif report["problem"]:
        yield False, f"GPU: {report['problem']}", report["way_out"]
    else:
        yield True, f"GPU: {len(report['devices'])} device(s), driver for CUDA {version_text(report['driver'])}", ""
    for number, device in enumerate(report["devices"]):
        yield not device["problem"], f"cuda:{number}: {device['problem'] or device_text(device)}", device["way_out"]
    if nvrtc["works"]:
        yield True, f"NVRTC: {nvrtc['path']} ({nvrtc['version']}), a kernel takes {nvrtc['seconds']:.2f} s", ""
    else:
        yield from library_line("NVRTC", nvrtc, absent)
    for name, library in report["libraries"].items():
        if library["path"]:
            yield True, f"{name}: {library['path']} ({library['version']})", ""
        else:
            yield from library_line(name, library, absent)


def library_line(name: str, library: dict[str, Any], absent: bool) -> Iterator[tuple[bool, str, str]]:
    """Yield the line about a library that is not there or does not work, which matters where there is a GPU."""
    if absent and not library["path"]:
        yield True, f"{name}: none; it is needed for GPUs alone: {library['way_out']}", ""
    else:
        yield False, f"{name}: {library['problem']}", library["way_out"]


def version_text(version: int) -> str:
    """Return 13.0 for 13000."""
    return f"{version // 1000}.{version % 1000 // 10}"


def device_text(device: dict[str, Any]) -> str:
    """Return a device's name, compute capability and memory."""
    capability = f"{device['architecture'] // 10}.{device['architecture'] % 10}"
    memory = f"{device['free_bytes'] / 1e9:.1f} of {device['total_bytes'] / 1e9:.1f} GB free"
    return f"{device['name']}, compute capability {capability}, {device['processors']} multiprocessors, {memory}"


def trial() -> Iterator[tuple[bool, str, str]]:
    """Compile a small function and compare it with NumPy."""
    import warnings

    import numpy as np

    import accel

    def double_sum(x: Any) -> Any:
        return np.sum(x + x)

    x = np.arange(10.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", accel.AccelWarning)  # of what the report says
            explanation = accel.explain(double_sum)(x)
    except accel.AccelError as error:
        yield False, f"trial: {error}", "report it"
        return
    right = bool(explanation.result == double_sum(x))
    why = ", ".join(dict.fromkeys(f"{fallback.reason}: {fallback.what}" for fallback in explanation.fallbacks))
    text = "compiled" if explanation.compiled else f"not compiled ({why})"
    yield right and explanation.compiled, f"trial: {text}, {'right' if right else 'wrong'} result", "see the lines above"


def doctor() -> int:
    """Print the report; return 0 when everything works."""
    from . import _accel

    healthy = True
    for works, finding, way_out in lines({**_accel.examine(), "cuda": _accel.examine_cuda()}):
        healthy = healthy and works
        print(f"{'ok  ' if works else 'BAD '} {finding}")
        if not works and way_out:
            print(f"     way out: {way_out}")
    return 0 if healthy else 1


def main(arguments: list[str]) -> int:
    """Run the command line; return the exit status."""
    if arguments == ["doctor"]:
        return doctor()
    print(USAGE, file=sys.stdout if arguments in (["-h"], ["--help"]) else sys.stderr)
    return 0 if arguments in (["-h"], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
