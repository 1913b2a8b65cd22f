"""SplitMix64 on Python's own integers, as published by Steele, Lea and Flood (2014)."""

WORD = 2**64


def split_mix(seed, n):
    """The first ``n`` numbers of the generator with this seed."""
    state, out = seed % WORD, []
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) % WORD
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        out.append(z ^ (z >> 31))
    return out
