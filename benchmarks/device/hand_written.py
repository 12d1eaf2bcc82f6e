"""The hand-written kernels of ceilings.cu as callables, by row."""

from ctypes import c_double, c_int, c_longlong
from pathlib import Path

import numpy as np

from benchmarks.device.driver import Module

TEXT = Path(__file__).with_name("ceilings.cu")
LEAF_BITS = 8  # a block sums 2 ** 8 leaves
THREADS = 256


def blocks_of(count, each=THREADS):
    return -(-count // each)


def leaf_depth(count):
    """Halvings after which no span has more than 128 elements."""
    depth = 0
    while count > 128:
        count, depth = (count + 1) // 2 + 7, depth + 1
    return depth


class HandWritten:
    """Ceilings. A row's maker takes the arrays on the device and returns (callable, results that it fills)."""

    def __init__(self, driver, put):
        self.driver, self.put = driver, put
        self.module = Module(driver, TEXT.read_text())
        self.launch = self.module.launch

    def empty(self, shape, dtype=np.float64):
        return self.put(np.zeros(shape, dtype))

    def make(self, row, arguments):
        """None: the row has no hand-written form."""
        maker = getattr(self, f"row_{row.name}", None)
        return maker and maker(*arguments)

    def row_copy(self, x):
        packs, result = x.size // 2, self.empty(x.size)
        return self.launch("copy_packs", blocks_of(packs, 4 * THREADS), THREADS, x, result, c_longlong(packs)), result

    def row_read(self, x):
        packs, never = x.size // 2, self.empty(1)
        return self.launch("read_packs", blocks_of(packs, 8 * THREADS), THREADS, x, never, c_longlong(packs)), never

    def row_launch(self, *arrays):
        return self.launch("empty", 1, 32), None

    def row_kmeans(self, points, centres):
        pairs, result = points.shape[0] // 2, self.empty(points.shape[0], np.int64)
        return self.launch("nearest_of_two", blocks_of(pairs), THREADS, points, centres, result, c_longlong(pairs)), result

    def row_black_scholes(self, price, strike, years, rate, volatility):
        pairs, call, put = price.size // 2, self.empty(price.size), self.empty(price.size)
        numbers = c_double(rate), c_double(volatility)
        arrays = price, strike, years, *numbers, call, put
        return self.launch("black_scholes", blocks_of(pairs), THREADS, *arrays, c_longlong(pairs)), (call, put)

    def row_softmax_product_100(self, x, y):
        rows, inner, columns = *x.shape, y.shape[1]
        result = self.empty((rows, columns), np.float32)
        return self.launch("softmax_product", rows, 128, x, y, result, c_int(inner), c_int(columns)), result

    def softmax_rows(self, x):
        result = self.empty(x.shape, np.float32)
        return self.launch("softmax_rows", x.shape[0], THREADS, x, result, c_int(x.shape[1])), result

    def row_softmax_product_4096(self, x, y):
        """The rows alone; the product is sgemm_4096."""
        return self.softmax_rows(x)[0], None

    def row_sum(self, x):
        depth = leaf_depth(x.size)
        leaf_bits = min(LEAF_BITS, depth)
        blocks = 1 << (depth - leaf_bits)
        if blocks > 16 * 1024:
            raise ValueError("more partial sums than one block adds")
        partials, result = self.empty(blocks), self.empty(1)
        bits = c_int(depth - leaf_bits), c_int(leaf_bits)
        first = self.launch("sum_leaves", blocks, THREADS, x, partials, c_longlong(x.size), *bits)
        second = self.launch("sum_partials", 1, 1024, partials, result, c_int(blocks))

        def run():
            first()
            second()

        return run, result

    def row_eight(self, a, b):
        result = self.empty(a.size)
        return self.launch("scaled", 1, 32, a, b, result, c_int(a.size)), result

    row_eight_wait = row_eight

    def row_eight_numpy(self, a, b):
        """The kernel works on page-locked memory of the host."""
        memory = [self.driver.page_locked(8, c_double) for _ in range(3)]
        inputs, result = [np.frombuffer(array) for array, _ in memory[:2]], np.frombuffer(memory[2][0])
        launch = self.launch("scaled", 1, 32, *(address for _, address in memory), c_int(8))

        def run(wait=self.driver.wait):
            inputs[0][:], inputs[1][:] = a, b
            launch()
            wait()
            return result.copy()

        return run, None
