"""What bench/tally.c does, in numpy: one JSON object per line; n counts bytes."""
import importlib

from timing import measure

try:
    np = importlib.import_module("numpy")
    n = 1 << 20
    for bits in (8, 64, 256):
        data = np.random.default_rng(1).integers(0, 256, n, dtype=np.uint8).reshape(-1, bits // 8)
        measure(f"numpy: tally reports of {bits} bits", n, lambda: np.unpackbits(data, axis=1).sum(axis=0))
except ImportError:
    pass  # an absent peer leaves a gap
