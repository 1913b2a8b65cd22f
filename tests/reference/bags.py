"""Bags of rows, drawn one row after the other from given random numbers, in plain Python."""


def position(bits, n):
    """One of ``n`` places, from the upper 53 bits of a random word."""
    return min(int((bits >> 11) * 2.0**-53 * n), n - 1)


def bag_with_replacement(bits, n_rows):
    """As many rows as there are random words, in ascending order."""
    return sorted(position(word, n_rows) for word in bits)


def drawn_rows(bits, n_rows):
    """As many different rows as there are random words, in the order of the draw.

    A row that is drawn leaves its place to the first of those that are left.
    """
    left, drawn = list(range(n_rows)), []
    for word in bits:
        place = position(word, len(left))
        drawn.append(left[place])
        left[place] = left[0]
        left = left[1:]
    return drawn


def bag_without_replacement(bits, n_rows, size):
    """``size`` different rows in ascending order; where that takes fewer draws, all but those that are drawn."""
    drawn = drawn_rows(bits, n_rows)
    if len(drawn) == size:
        return sorted(drawn)
    return [row for row in range(n_rows) if row not in drawn]


def draws_of(n_rows, size, replace):
    """How many random words one bag takes."""
    return size if replace or 2 * size <= n_rows else n_rows - size


def left_out_shares(bags, chosen, n_rows, models):
    """The weights of ``models`` over the bags that lack a row, for each row; ``chosen`` has a dict for each bag."""
    shares = []
    for row in range(n_rows):
        lacking = [weights for bag, weights in zip(bags, chosen, strict=True) if row not in bag]
        shares.append([sum(weights.get(model, 0.0) for weights in lacking) / len(lacking) for model in models])
    return shares
