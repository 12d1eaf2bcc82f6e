"""Writes the pages that are made from the tables in src. --check: only says whether they are current.

settings.md from base/settings.inc, reasons.md from base/reasons.inc, operations.md from ir/ops.inc. breadth.md from calls of
NumPy's functions in compiled ones (tests/support/breadth.py), where accel is installed; tests/lint/test_breadth.py checks it.
"""

import re
import sys
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parent
SRC = DOCS.parent / "src"
NOTICE = "<!-- Made by docs/generate.py from src/{table}: edit the table. -->\n\n"

STRING = r'"(?:[^"\\]|\\.)*"'
CELL = re.compile(rf"\s*((?:{STRING}\s*)+|[^,()]+)\s*([,)])")


def rows(table, macro):
    """The cells of each row MACRO(...) of a table as text: strings unquoted, everything else as it stands."""
    text = (SRC / table).read_text()
    found = []
    for start in re.finditer(rf"^{macro}\(", text, re.MULTILINE):
        cells, position = [], start.end()
        while True:
            cell = CELL.match(text, position)
            cells.append(plain(cell.group(1)))
            position = cell.end()
            if cell.group(2) == ")":
                break
        found.append(cells)
    return found


def plain(cell):
    strings = re.findall(STRING, cell)
    return "".join(s[1:-1].replace('\\"', '"') for s in strings) if strings else cell.strip()


def table(head, lines):
    def escaped(cell):
        return cell.replace("|", "\\|")

    text = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    text += ["| " + " | ".join(map(escaped, line)) + " |" for line in lines]
    return "\n".join(text) + "\n"


def prose(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n\n"


def code(text):
    return f"`{text}`" if text else ""


def settings():
    topics = rows("base/settings.inc", "LOG_TOPIC")
    lines = []
    for name, kind, default, env, allowed, doc in rows("base/settings.inc", "SETTING"):
        values = ", ".join(t[0] for t in topics) if allowed == "ACCEL_LOG_TOPICS" else allowed
        env = "" if env == "nullptr" else env
        lines.append([code(name), kind, code(default), code(env), values, doc])
    return (
        "# Settings\n\n"
        + prose(
            "Set them as attributes: `accel.config.threads = 4`. "
            "Those with a variable are also read from the environment when the process starts."
        )
        + table(["setting", "type", "default", "variable", "allowed", "what it does"], lines)
        + "\n## Topics of `logs`\n\n"
        + table(["topic", "what is logged"], [[code(name), doc] for name, doc in topics])
    )


def reasons():
    lines = [[code(name), what, way_out] for name, what, way_out in rows("base/reasons.inc", "REASON")]
    return (
        "# Reason codes\n\n"
        + prose(
            "Why something was left to the interpreter, or compiled again. `accel.explain(function)(*arguments)` shows them "
            "with their lines; the log topics `breaks` and `recompiles` show them as they happen."
        )
        + table(["code", "what happened", "the way out"], lines)
    )


def operations():
    lines = []
    for name, op_class, arity, inline, events, *_ in rows("ir/ops.inc", "OP"):
        lines.append([code(name), op_class, "any" if arity == "-1" else arity, code(inline), events])
    return (
        "# Operations\n\n"
        + prose(
            "The operations of the compiler's graph. A dtype letter (b bool, i signed, u unsigned, e float16, f float32 and "
            "float64, c complex) says for which operands the operation is written into the kernel; for the others the kernel "
            "calls NumPy's own inner loop. Events are the floating-point events it may raise: d(ivide), o(verflow), "
            "u(nderflow), (in)v(alid); e: it may raise an exception."
        )
        + table(["operation", "class", "operands", "inline dtypes", "events"], lines)
    )


def write_breadth():
    sys.path.insert(0, str(DOCS.parent / "tests"))
    try:
        from support.breadth import page
    except ImportError as error:
        print(f"breadth.md stays as it is: {error}")
        return
    notice = "<!-- Made by docs/generate.py from tests/support/breadth_calls.py: edit the calls. -->\n\n"
    (DOCS / "breadth.md").write_text(notice + page())


PAGES = {
    "settings.md": ("base/settings.inc", settings),
    "reasons.md": ("base/reasons.inc", reasons),
    "operations.md": ("ir/ops.inc", operations),
}


def main():
    check, stale = "--check" in sys.argv[1:], []
    for name, (source, make) in PAGES.items():
        page = DOCS / name
        text = NOTICE.format(table=source) + make()
        if check and (not page.exists() or page.read_text() != text):
            stale.append(name)
        elif not check:
            page.write_text(text)
    if not check:
        write_breadth()
    if stale:
        raise SystemExit(f"not current, run python docs/generate.py: {', '.join(stale)}")


if __name__ == "__main__":
    main()
