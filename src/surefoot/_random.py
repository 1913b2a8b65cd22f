"""Counter-based random numbers: the i-th number of a stream is a pure function of (key, i).

The key of a stream comes from a seed and any number of labels (member, round, ...), so that members draw the same
numbers in any order of training and on any number of threads. Kernels of other files read the arrays filled here: a
cached kernel must not call a kernel of another file.
"""

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from surefoot._exceptions import ParameterError
from surefoot._jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_WORD = (1 << 64) - 1


@kernel
def fill_bits(key, first, out):
    """Write the 64-bit numbers ``first, first + 1, ...`` of the stream ``key`` (SplitMix64) into ``out``."""
    for i in range(out.shape[0]):
        z = np.uint64(key) + np.uint64(first + i + 1) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        out[i] = z ^ (z >> np.uint64(31))


def stream_key(seed: int, *labels: int) -> np.uint64:
    """The key of a stream: equal (seed, labels) give the same key, different ones give unrelated keys."""
    key = seed & _WORD
    for label in labels:
        key = (_mix(key) + (label & _WORD) * int(_GOLDEN)) & _WORD
    return np.uint64(_mix(key))


def _mix(z: int) -> int:
    z = (z + int(_GOLDEN)) & _WORD
    z = ((z ^ (z >> 30)) * int(_MIX_1)) & _WORD
    z = ((z ^ (z >> 27)) * int(_MIX_2)) & _WORD
    return z ^ (z >> 31)


def random_bits(key: np.uint64, n: int, first: int = 0) -> np.ndarray:
    """Numbers ``first`` to ``first + n - 1`` of the stream, as unsigned 64-bit integers."""
    out = np.empty(n, dtype=np.uint64)
    fill_bits(key, first, out)
    return out


def skip_numbers(key: np.uint64, n: int) -> np.uint64:
    """The key of a stream that begins with number ``n`` of this one."""
    return key if n == 0 else np.uint64((int(key) + n * int(_GOLDEN)) & _WORD)


def random_integers(key: np.uint64, n: int, below: int) -> np.ndarray:
    """``n`` integers in ``[0, below)``; the bias of the reduction is under ``below / 2**53``."""
    unit = (random_bits(key, n) >> np.uint64(11)) * 2.0**-53
    return np.minimum((unit * below).astype(np.int64), below - 1)


def random_normals(key: np.uint64, n: int) -> np.ndarray:
    """``n`` numbers from the standard normal distribution."""
    return _normals(random_bits(key, n))


class NormalRows:
    """``random_normals(key, n)`` for one key after the other; drawing a batch of rows at once is faster."""

    BATCH = 32

    def __init__(self, keys: np.ndarray, n: int) -> None:
        self._keys, self._n, self._block = keys, n, -1

    def __getitem__(self, row: int) -> np.ndarray:
        block, place = divmod(row, self.BATCH)
        if block != self._block:
            keys = self._keys[block * self.BATCH : (block + 1) * self.BATCH]
            bits = np.empty((len(keys), self._n), dtype=np.uint64)
            for key, out in zip(keys, bits, strict=True):
                fill_bits(key, 0, out)
            self._block, self._drawn = block, _normals(bits)
        return self._drawn[place]


def _normals(bits: np.ndarray) -> np.ndarray:
    return ndtri(((bits >> np.uint64(11)) + 0.5) * 2.0**-53)


def random_permutation(key: np.uint64, n: int) -> np.ndarray:
    """A shuffled ``arange(n)``."""
    return np.argsort(random_bits(key, n))


def bootstrap_counts(key: np.uint64, n: int, draws: int) -> np.ndarray:
    """How often each of ``n`` rows is drawn in ``draws`` draws with replacement."""
    return np.bincount(random_integers(key, draws, n), minlength=n)


def seed_from(random_state: Any) -> int:
    """One integer seed from scikit-learn's ``random_state`` (None, an integer, or a RandomState)."""
    try:
        generator = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"random_state must be None, a RandomState, or a whole number from 0 to 2**32 - 1 as the seed: {error}.",
            argument="random_state",
        ) from error
    return int(generator.randint(np.iinfo(np.int32).max))
