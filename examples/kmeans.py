"""k-means on 272 eruptions of the Old Faithful geyser, first as they are, then on ten million points drawn from them.

The functions are plain NumPy. The decorator is all that accel asks for.
"""

import sys
import time
from pathlib import Path

import numpy as np

import accel

DATA = Path(__file__).parent / "data" / "old_faithful.csv"


def nearest_in_numpy(points, centres):
    """Index of the nearest centre of each point."""
    return np.argmin(np.linalg.norm(points[:, None, :] - centres[None, :, :], axis=-1), axis=1)


nearest = accel.compile(nearest_in_numpy)


@accel.compile
def standardised(table):
    """Columns with mean 0 and standard deviation 1."""
    return (table - table.mean(axis=0)) / table.std(axis=0)


def new_centres(points, labels, count):
    """Mean of the points of each label."""
    return np.array([points[labels == k].mean(axis=0) for k in range(count)])


def kmeans(points, count, assign):
    """Lloyd's algorithm from centres spread over the first coordinate. Returns labels, centres and the number of steps."""
    ends = np.linspace(0, len(points) - 1, count).astype(int)
    centres = points[np.argsort(points[:, 0], kind="stable")[ends]]
    steps = 0
    while steps < 100:
        steps += 1
        labels = assign(points, centres)
        moved = new_centres(points, labels, count)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return labels, centres, steps


def seconds(function, *arguments):
    """Least time of three calls."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - begin)
    return min(times)


def show_clusters(eruptions):
    """Prints what k-means finds; returns the standardised points and the centres."""
    points = standardised(eruptions)
    labels, centres, steps = kmeans(points, 2, nearest)
    expected, expected_centres, _ = kmeans(points, 2, nearest_in_numpy)
    assert np.array_equal(labels, expected) and np.array_equal(centres, expected_centres)
    print(f"{len(points)} eruptions, 2 clusters after {steps} steps; NumPy finds the same, bit for bit")
    for k in range(2):
        minutes, waiting = eruptions[labels == k].mean(axis=0)
        print(f"  {np.sum(labels == k):4d} eruptions of {minutes:.1f} minutes, {waiting:.0f} minutes to the next")
    return points, centres


def show_speed(points, centres, count):
    """Times the assignment step on many points scattered about the measured ones."""
    rng = np.random.default_rng(0)
    many = points[rng.integers(0, len(points), count)] + 0.1 * rng.standard_normal((count, 2))
    assert np.array_equal(nearest(many, centres), nearest_in_numpy(many, centres))
    numpy_time, accel_time = seconds(nearest_in_numpy, many, centres), seconds(nearest, many, centres)
    ratio = numpy_time / accel_time
    print(f"{count:,} points: NumPy {numpy_time:.3f} s, accel {accel_time:.3f} s, {ratio:.1f} times faster")


def main():
    eruptions = np.loadtxt(DATA, delimiter=",")
    points, centres = show_clusters(eruptions)
    show_speed(points, centres, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
    print()
    print(accel.explain(nearest)(points, centres))


if __name__ == "__main__":
    main()
