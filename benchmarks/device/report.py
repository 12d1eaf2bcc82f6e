"""What the figures of the contestants say about each row, and the table."""

from benchmarks.device.rows import H100_COPY_RATE
from benchmarks.report import seconds_text

MOST_DIFFERENCE = 1e-5  # of the greatest value

HEAD = "row|accel|GB/s|of copy|launches|waits|bytes up|bytes down|ceiling|best peer||bar|"
WIDTHS = 28, 12, 8, 8, 9, 6, 11, 11, 12, 12, 14, 12, 10


def figure(data, contestant, row):
    return data["figures"].get(contestant, {}).get(row, {})


def copy_rate(data):
    copied = figure(data, "hand-written", "copy")
    return copied["bytes"] / copied["median"] if "median" in copied else None


def product_alone(data, row):
    """The best time of the product, whose library is everybody's."""
    times = [rows[row]["median"] for rows in data["figures"].values() if "median" in rows.get(row, {})]
    return min(times, default=None)


def bar_of(data, row):
    """Seconds. A bar for an H100 goes with the copy rate where the bytes decide and the device is another one."""
    rate = copy_rate(data)
    if row.share is not None:
        moved = figure(data, "accel", row.name).get("bytes")
        return moved / (row.share * rate) if rate and moved else None
    if row.beyond:
        alone = product_alone(data, row.beyond)
        return None if alone is None else alone + row.bar
    if row.bar is not None and row.moves and rate and "H100" not in data["about"]["device"]:
        return row.bar * H100_COPY_RATE / rate
    return row.bar


def ceiling_of(data, row):
    found = figure(data, "hand-written", row.name)
    ceiling = found.get("median") if is_right(found.get("verdict")) else None
    alone = product_alone(data, row.beyond) if row.beyond else 0.0
    return None if ceiling is None or alone is None else ceiling + alone


def best_peer(data, row):
    """(seconds, name) or None"""
    times = [
        (rows[row.name]["median"], name)
        for name, rows in data["figures"].items()
        if name not in ("accel", "hand-written") and "median" in rows.get(row.name, {})
    ]
    return min(times, default=None)


def is_right(verdict):
    """Whether a result is NumPy's but for rounding."""
    if not verdict or verdict == "same bits":
        return True
    return verdict.startswith("differs by ") and float(verdict.split()[2]) < MOST_DIFFERENCE


def summarize(data, row):
    """The line of a row, as it is saved and printed."""
    own = figure(data, "hand-written" if row.function is None else "accel", row.name)
    time, moved, rate, peer = own.get("median"), own.get("bytes"), copy_rate(data), best_peer(data, row)
    found = {"row": row.name, "about": row.about, "mode": row.mode, "seconds": time, "bar": bar_of(data, row)}
    found |= {name: own.get(name) for name in ("launches", "waits", "bytes_up", "bytes_down", "problem", "verdict")}
    found["bytes_per_second"] = moved / time if moved and time else None
    found["share_of_copy"] = found["bytes_per_second"] / rate if found["bytes_per_second"] and rate else None
    found["ceiling"] = None if row.function is None else ceiling_of(data, row)
    found["peer"], found["peer_seconds"] = (peer[1], peer[0]) if peer else (None, None)
    found["is_met"] = time <= found["bar"] if time and found["bar"] else None
    if not is_right(own.get("verdict")) or (row.same_bits and own.get("verdict", "same bits") != "same bits"):
        found["is_met"] = False
    return found


def summarize_process(name, found):
    own = {"row": name, "seconds": found.get("median"), "bar": found.get("bar"), "problem": found.get("problem")}
    own["is_met"] = own["seconds"] <= own["bar"] if own["seconds"] and own["bar"] else None
    own["about"] = ", ".join(
        f"{k} {seconds_text(v).strip()}" for k, v in found.items() if k not in ("bar", "median", "problem")
    )
    return own


def time_text(seconds):
    return "-" if seconds is None else seconds_text(seconds).strip()


def number_text(value, scale=1.0, form="{:.0f}"):
    return "-" if value is None else form.format(value * scale)


def cells(line):
    get = line.get
    met = {True: "met", False: "MISSED", None: ""}[line["is_met"]]
    yield from (line["row"], time_text(line["seconds"]))
    yield from (number_text(get("bytes_per_second"), 1e-9), number_text(get("share_of_copy"), 100, "{:.0f} %"))
    yield from (number_text(get(name)) for name in ("launches", "waits", "bytes_up", "bytes_down"))
    yield from (time_text(get("ceiling")), time_text(get("peer_seconds")), get("peer") or "", time_text(line["bar"]), met)


def print_line(values):
    first, *rest = values
    print(f"{first:<{WIDTHS[0]}}" + "".join(f"{value:>{width}}" for value, width in zip(rest, WIDTHS[1:], strict=True)))


def print_table(data):
    about = data["about"]
    rate = copy_rate(data)
    print(f"\n{about['device']}, driver {about['driver']}, accel {about['accel']}, NumPy {about['numpy']}", end="")
    print(f"; copy rate {rate / 1e9:.0f} GB/s" if rate else "; no copy rate: the rows copy and read give it")
    print_line(HEAD.split("|"))
    for line in data["rows"]:
        print_line(cells(line))
    remarks = [f"  {line['row']}: {line[name]}" for line in data["rows"] for name in ("problem", "verdict") if line.get(name)]
    remarks = [text for text in remarks if not text.endswith(": same bits")]
    print("\nResults against NumPy's, where the bits differ, and what gave no figure:" if remarks else "", *remarks, sep="\n")
    processes = [line for line in data["rows"] if "mode" not in line and line["about"]]
    print(*(f"  {line['row']}: {line['about']}" for line in processes), sep="\n")
