"""Draws docs/pipeline.svg: the stages of a compile and of a call. --check: only says whether the picture is current."""

import sys
from pathlib import Path

PICTURE = Path(__file__).with_name("pipeline.svg")
WIDTH, HEIGHT, LEFT, GAP = 124, 52, 16, 26  # of a box; from the left edge; between boxes (pixels)
COMPILE = [
    ("function", "bytecode", "arguments"),
    ("capture", "graph, guards", "src/capture"),
    ("passes", "simpler graph", "src/passes"),
    ("schedule", "loop nests", "src/schedule"),
    ("codegen", "C++", "src/codegen"),
    ("toolchain", "kernel", "src/toolchain"),
]
CALL = [
    ("call", "arguments", "src/dispatch"),
    ("guards", "which version", "src/guard"),
    ("launch", "memory, threads", "src/dispatch/launch"),
    ("kernel", "loops", "src/runtime"),
    ("result", "arrays, numbers", ""),
    ("interpreter", "frame at an exit", "src/cpython"),
]


def box(column, top, name, product, folder, is_plain=False):
    x = LEFT + column * (WIDTH + GAP)
    style = "plain" if is_plain else "stage"
    return [
        f'<rect class="{style}" x="{x}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        f'<text class="name" x="{x + WIDTH / 2:g}" y="{top + 18}">{name}</text>',
        f'<text class="product" x="{x + WIDTH / 2:g}" y="{top + 32}">{product}</text>',
        f'<text class="folder" x="{x + WIDTH / 2:g}" y="{top + 45}">{folder}</text>',
    ]


def arrow(path, label="", at=(0, 0)):
    lines = [f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>']
    if label:
        lines.append(f'<text class="label" x="{at[0]}" y="{at[1]}">{label}</text>')
    return lines


def row(top, boxes, plain):
    lines = []
    for column, (name, product, folder) in enumerate(boxes):
        lines += box(column, top, name, product, folder, column in plain)
    return lines


def arrows(top, count):
    middle, lines = top + HEIGHT / 2, []
    for column in range(count):
        start = LEFT + column * (WIDTH + GAP) + WIDTH
        lines += arrow(f"M{start} {middle:g} H{start + GAP - 2}")
    return lines


def picture():
    width = 2 * LEFT + len(COMPILE) * (WIDTH + GAP) - GAP
    first, second = 40, 176
    centre = [LEFT + column * (WIDTH + GAP) + WIDTH / 2 for column in range(len(COMPILE))]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 288" font-family="sans-serif" text-anchor="middle">',
        "<title>Stages of a compile, and of a call</title>",
        "<style>rect{stroke:#345;stroke-width:1.2}.stage{fill:#e8f0fa}.plain{fill:#f6f3e8}.name{font-size:14px;font-weight:bold}"
        ".product{font-size:11px}.folder{font-size:10px;fill:#567}.label,.row{font-size:11px;fill:#345}.row{text-anchor:start}"
        ".arrow{fill:none;stroke:#345;stroke-width:1.4}</style>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
        '<path d="M0 0 L6 3 L0 6 z" fill="#345"/></marker></defs>',
        f'<rect x="0" y="0" width="{width}" height="288" style="fill:#fff;stroke:none"/>',
        f'<text class="row" x="{LEFT}" y="26">compile: once for dtypes and ranks that have not been seen</text>',
        f'<text class="row" x="{LEFT}" y="162">call: each time</text>',
        *row(first, COMPILE, {0}),
        *row(second, CALL, {0, 4, 5}),
        *arrows(first, len(COMPILE) - 1),
        *arrows(second, 4),
        *arrow(f"M{centre[1]:g} {second} V{first + HEIGHT + 3}", "no version fits", (centre[1] + 46, 122)),
        *arrow(
            f"M{centre[5]:g} {first + HEIGHT} V128 H{centre[3]:g} V{second - 3}", "cached in memory and on disk", (680, 122)
        ),
        *arrow(f"M{centre[3]:g} {second + HEIGHT} V258 H{centre[5]:g} V{second + HEIGHT + 3}", "side exit", (680, 252)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main():
    if "--check" in sys.argv[1:]:
        if PICTURE.read_text() != picture():
            raise SystemExit("docs/pipeline.svg is not current, run python docs/pipeline.py")
        return
    PICTURE.write_text(picture())


if __name__ == "__main__":
    main()
