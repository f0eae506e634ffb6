"""What calls prepare and keep for later ones, bounded in number and in bytes."""

import functools

MOST_KEPT = 256
MOST_BYTES = 32 << 20  # of all caches
BYTES_OF_WEIGHT = 100  # as Python's number, in a tuple or two, and as the library's

_cache, _bytes_kept = [], 0


class _TooLarge(Exception):
    """Carries what is not worth keeping out of a cache, which keeps no exceptions."""


def types_within(given):
    """What tells (2, 2) from (2.0, 2.0), which are equal."""
    return tuple([tuple(map(type, one)) for one in given if type(one) is tuple])


def _make_room(size):
    """Of two threads at once one may not be counted; a lock could be held where the process is forked."""
    global _bytes_kept
    _bytes_kept += size
    if _bytes_kept > MOST_BYTES:
        for cache in _cache:
            cache.cache_clear()
        _bytes_kept = size


def kept(make):
    """`make` gives a result and how many weights it holds. Results for the last calls are kept; all, of all
    caches, are given up before what has been kept since then could exceed MOST_BYTES, and one of more than an
    eighth of that is not kept at all."""

    @functools.lru_cache(maxsize=MOST_KEPT, typed=True)
    def small(*given):
        made, weights = make(*given)
        if weights * BYTES_OF_WEIGHT > MOST_BYTES // 8:
            raise _TooLarge(made)
        _make_room(weights * BYTES_OF_WEIGHT)
        return made

    def either(*given):
        try:
            return small(*given)
        except _TooLarge as made:
            return made.args[0]

    _cache.append(small)
    either.cache_info = small.cache_info
    return either
