"""The C++ compiler with which tests compile what is no kernel, or play a compiler: CXX, or g++, or clang++."""

import functools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "src" / "toolchain" / "host" / "flags.inc"


def host_compiler():
    """Its words, the first of them a path."""
    words = shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or "clang++"]
    return [shutil.which(words[0]) or words[0], *words[1:]]


def shell_text():
    """Its words for a shell script."""
    return shlex.join(host_compiler())


@functools.cache
def is_clang(*compiler):
    """Whether the compiler with these words, or else the host's, is clang."""
    command = [*(compiler or host_compiler()), "-dM", "-E", "-x", "c++", "/dev/null"]
    return "__clang__" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


@functools.cache
def kernel_flags(*compiler):
    """The words of the flags of kernels, as the table has them, for a compiler (`is_clang`) that understands all of them."""
    rows = re.findall(r'^FLAG\("([^"]+)", (\w+)', TABLE.read_text(), re.MULTILINE)
    family = "clang" if is_clang(*compiler) else "gnu"
    return [word for flag, families in rows if families in ("any", family) for word in flag.split()]
