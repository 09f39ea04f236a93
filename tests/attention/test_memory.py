"""Memory stays linear: measured by the system, in processes of their own."""

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

PEAK = """
import re, sys
import numpy as np
from sdpa_cli.attention import Mask, attend

def status(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
"""


def mebibytes(code, *args):
    done = subprocess.run([sys.executable, "-c", PEAK + code, *args], capture_output=True, text=True, check=True)
    return float(done.stdout)


def saved(tmp_path, **shapes):
    rng = np.random.default_rng(0)
    for name, (shape, dtype) in shapes.items():
        out = np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", dtype, shape)
        for part in np.array_split(out, 16):
            part[...] = rng.random(part.shape, np.float32)
    return [str(tmp_path / f"{name}.npy") for name in shapes]


def test_long_self_attention_fits_in_200_mebibytes(tmp_path):
    (path,) = saved(tmp_path, x=((16384, 64), np.float32))
    peak = mebibytes("x = np.load(sys.argv[1]); attend(x, x, x); print(status('VmHWM'))", path)
    assert peak < 200


def test_a_million_mapped_keys_of_another_dtype_are_never_held_whole(tmp_path):
    """V is float16 and K float32, computed in float64 because Q is: whole copies would take 256 MiB."""
    shapes = {"q": ((16, 8), np.float64), "k": ((10**6, 16), np.float32), "v": ((10**6, 16), np.float16)}
    shapes["q"] = ((16, 16), np.float64)
    paths = saved(tmp_path, **shapes)
    code = """
q, k, v = (np.load(path, mmap_mode="r") for path in sys.argv[1:])
before = status("RssAnon")
result = attend(q, k, v)
assert np.isfinite(result.output).all()
result.row_sums()
print(status("VmHWM") - status("RssFile"))
"""
    assert mebibytes(code, *paths) < 200


@pytest.mark.parametrize("mask", ["None", "Mask(causal=True)", "Mask(key_lengths=100)"])
def test_working_memory_does_not_grow_with_the_keys(mask):
    """Beside inputs and output: the state of each query, and tiles of fixed size."""
    code = """
queries, keys = 64, int(sys.argv[1])
x = np.ones((keys, 16), np.float32)
attend(x[:300], x[:300], x[:300])
before = status("VmHWM")
attend(x[:queries], x, x, mask=MASK, threads=2)
print(status("VmHWM") - before)
"""
    code = code.replace("MASK", mask.replace("causal=True", "causal=True, query_offset=keys - queries"))
    assert mebibytes(code, str(1 << 20)) < 16


def test_calls_of_many_lengths_leave_nothing_behind():
    """Whatever is remembered of a call is small, also of one whose tiles were asked to be long."""
    code = """
import tracemalloc
tracemalloc.start()
for i in range(30):
    k = np.zeros((100_000 + i, 1), np.float32)
    attend(np.zeros((1, 1), np.float32), k, k, block_size=len(k))
    if i == 0:
        del k
        first = tracemalloc.get_traced_memory()[0]
del k
print((tracemalloc.get_traced_memory()[0] - first) / 2**20)
"""
    assert mebibytes(code) < 1
