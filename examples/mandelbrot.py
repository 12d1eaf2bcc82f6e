"""Draws the Mandelbrot set: a picture of how long each point stays within a bound.

The function is plain NumPy. The decorator is all that accel asks for. The picture is a PNG where matplotlib is installed, and a
PPM file otherwise.

    python examples/mandelbrot.py [picture] [columns] [rows] [--device cuda]
"""

import argparse
import time
from pathlib import Path

import numpy as np

import accel


def escape_time_in_numpy(real, imag, steps, bound):
    """The last value of each point, and in which step it was within the bound last."""
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, dtype=np.complex64)
    count = np.zeros(c.shape, dtype=int)
    for k in range(steps):
        inside = np.abs(z) < bound
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    count[count == steps - 1] = 0
    return z, count


escape_time = accel.compile(escape_time_in_numpy)


def axes(columns, rows):
    real = np.linspace(-2.25, 0.75, columns, dtype=np.float32)
    imag = np.linspace(-1.25, 1.25, rows, dtype=np.float32)
    return real, imag


def smooth(z, count, bound):
    """Steps with a fraction, so that neighbouring colours run into one another; 0 inside the set."""
    with np.errstate(all="ignore"):
        fraction = count + 1 - np.log2(np.log2(np.abs(z)) / np.log2(bound))
    return np.where(count > 0, fraction, 0)


def shaded(steps):
    """Brightness from 0 to 1: the hue of a power of the steps, lit from one side."""
    norm = (steps / max(steps.max(), 1)) ** 0.3
    slope_x, slope_y = np.gradient(steps)
    light = 0.5 + (slope_x + slope_y) / (2 * np.sqrt(2) * np.sqrt(1 + slope_x**2 + slope_y**2))
    return norm * (0.6 + 0.4 * light)


def write_png(path, brightness):
    """False when matplotlib is not installed."""
    try:
        from matplotlib import image
    except ImportError:
        return False
    image.imsave(path, brightness, cmap="inferno", origin="lower")
    return True


def write_ppm(path, brightness):
    """Black, red, yellow, white."""
    channels = np.clip(3 * brightness[::-1, :, None] - np.arange(3), 0, 1)
    rows, columns = brightness.shape
    path.write_bytes(f"P6 {columns} {rows} 255\n".encode() + (255 * channels).astype(np.uint8).tobytes())


def seconds(function, *arguments):
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description="Draws the Mandelbrot set.")
    parser.add_argument("picture", nargs="?", type=Path, default=Path("mandelbrot.png"))
    parser.add_argument("columns", nargs="?", type=int, default=1000)
    parser.add_argument("rows", nargs="?", type=int, help="five sixths of the columns unless it is given")
    parser.add_argument("--device", default="cpu", help='where the function runs: "cpu", "cuda", "cuda:1"')
    options = parser.parse_args()
    path, columns = options.picture, options.columns
    rows = options.rows or columns * 5 // 6
    steps, bound = 200, 2.0**40
    arguments = *axes(columns, rows), steps, bound

    with accel.device(options.device):
        z, count = escape_time(*arguments)
        accel_time = seconds(escape_time, *arguments)
    expected_z, expected_count = escape_time_in_numpy(*arguments)
    assert z.tobytes() == expected_z.tobytes() and count.tobytes() == expected_count.tobytes()
    numpy_time = seconds(escape_time_in_numpy, *arguments)
    print(f"{columns} x {rows} points, {steps} steps: the same picture, bit for bit")
    print(f"NumPy {numpy_time:.3f} s, accel {accel_time:.4f} s, {numpy_time / accel_time:.1f} times faster")

    brightness = np.clip(shaded(smooth(z, count, bound)), 0, 1)
    if not write_png(path.with_suffix(".png"), brightness):
        path = path.with_suffix(".ppm")
        write_ppm(path, brightness)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
