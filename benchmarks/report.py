"""The table, the JSON file and the picture."""

import json
import math


def seconds_text(value):
    for unit, scale in (("s ", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if value * scale >= 1 or unit == "ns":
            return f"{value * scale:8.3g} {unit}"
    return ""


def ratio_text(ratio):
    """How many times faster than NumPy; a loss is marked, whoever has it."""
    return f"{ratio:8.3g}x" + (" LOSS" if ratio < 1 else "     ")


def print_case(found):
    times, verdicts = found["times"], found["verdicts"]
    base = times.get("numpy", {}).get("median")
    print(f"\n{found['case']} ({found['about']}), {found['threads']} thread{'s' * (found['threads'] > 1)}", flush=True)
    print(f"  {'':<26}{'median':>11}{'least':>12}{'NumPy / it':>11}        GB/s   faults samples  result")
    for name, time in sorted(times.items(), key=lambda item: item[1]["median"]):
        ratio = ratio_text(base / time["median"]) if base else ""
        rate = found["bytes"] / time["median"] / 1e9
        verdict = verdicts.get(name, verdicts.get(name.removesuffix(", fresh"), ""))
        median, least = seconds_text(time["median"]), seconds_text(time["min"])
        print(f"  {name:<26}{median}{least:>12}{ratio:>17}{rate:9.2f}{time['faults']:9.0f}{time['samples']:8d}  {verdict}")
    for name, verdict in verdicts.items():
        if name not in times:
            print(f"  {name:<26}{verdict}")
    if "memory_bound" in found:
        bound = found["memory_bound"]["median"]
        print(f"  {'memory bound':<26}{seconds_text(bound)}{'':29}{found['bytes'] / bound / 1e9:9.2f}")


def print_value(title, values, text):
    print(f"\n{title}")
    for name, value in values.items():
        print(f"  {name:<26}{value if isinstance(value, str) else text(value)}")


def print_losses(cases):
    """Where accel is slower than NumPy, and where it was not measured: the lines that matter most."""
    lost, missing = [], []
    for found in cases:
        times = {name: time["median"] for name, time in found["times"].items()}
        place = f"  {found['case']}, {found['threads']} threads"
        if "accel" in found["verdicts"] and "accel" not in times:
            missing.append(f"{place}: {found['verdicts']['accel']}")
        for name in times:
            if name.startswith("accel") and times[name] > times.get("numpy", math.inf):
                lost.append(f"{place}, {name}: {times['numpy'] / times[name]:.3g}x")
    measured = any("accel" in found["times"] for found in cases)
    if measured:
        print("\nWhere accel is slower than NumPy:" + ("\n" + "\n".join(lost) if lost else " nowhere that was measured"))
    if missing:
        print("\nWhere accel gave no figure:\n" + "\n".join(missing))


def print_head(stamp):
    print("  ".join(f"{k} {v}" for k, v in stamp.items()))
    print("ceiling: recycled result buffer; `fresh`: result memory that the process has not touched before")


def print_rest(data):
    """What follows the cases."""
    for case, values in data.get("first_calls", {}).items():
        print_value(f"first call and second call, {case}", values, lambda v: "  ".join(map(seconds_text, v)))
    if "imports" in data:
        print_value("import, after NumPy", data["imports"], seconds_text)
    if "peak_memory" in data:
        print_value(
            "k-means, 20M points: peak memory beyond inputs and result",
            data["peak_memory"],
            lambda v: f"{v / 1e6:10.1f} MB",
        )
    if "compile_counts" in data:
        print("\naccel.stats after 31 sizes from 0 up")
        print(json.dumps(data["compile_counts"], indent=2, default=str))
    print_losses(data["cases"])


def draw(data, path):
    """Bars of speed-up over NumPy, one group per case; false when matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    threads = max(c["threads"] for c in data["cases"])
    cases = [c for c in data["cases"] if c["threads"] == threads and "numpy" in c["times"]]
    names = list(dict.fromkeys(n for c in cases for n in c["times"] if n != "numpy"))
    figure, axes = pyplot.subplots(figsize=(2 + 1.3 * len(cases), 5), layout="constrained")
    width = 0.85 / max(1, len(names))
    for i, name in enumerate(names):
        bars = [
            (j, c["times"]["numpy"]["median"] / c["times"][name]["median"]) for j, c in enumerate(cases) if name in c["times"]
        ]
        axes.bar([j + i * width - 0.4 for j, _ in bars], [r for _, r in bars], width, label=name)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xticks(range(len(cases)), [c["case"] for c in cases], rotation=30, ha="right")
    axes.set_ylabel(f"times faster than NumPy, {threads} threads (log scale)")
    axes.set_title(f"{data['stamp']['cpu']}, NumPy {data['stamp']['numpy']}")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)
    return True
