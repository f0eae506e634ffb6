"""Caches of prepared data for later calls, bounded in entries and bytes."""

import functools

MAX_ENTRIES = 256
MAX_BYTES = 32 << 20  # of all caches together
BYTES_PER_WEIGHT = 100  # a Python number in one or two tuples, plus the library's copy

_caches, _bytes_cached = [], 0


class _TooLarge(Exception):
    """Carries a result that is too large for the cache: lru_cache stores no exceptions."""


def types_in_tuples(arguments):
    """The types within tuples: they distinguish (2, 2) from (2.0, 2.0), which compare equal."""
    return tuple([tuple(map(type, value)) for value in arguments if type(value) is tuple])


def _reserve(bytes_):
    """Concurrent updates may lose one count. No lock: a fork could copy it while locked."""
    global _bytes_cached
    _bytes_cached += bytes_
    if _bytes_cached > MAX_BYTES:
        for cache in _caches:
            cache.cache_clear()
        _bytes_cached = bytes_


def bounded_cache(make):
    """Decorates `make`, which returns a result and its number of weights. The last results are cached. All
    caches are cleared before their total could exceed MAX_BYTES. A result larger than an eighth of that is
    not cached."""

    @functools.lru_cache(maxsize=MAX_ENTRIES, typed=True)
    def cached(*arguments):
        result, weights = make(*arguments)
        if weights * BYTES_PER_WEIGHT > MAX_BYTES // 8:
            raise _TooLarge(result)
        _reserve(weights * BYTES_PER_WEIGHT)
        return result

    def cached_or_new(*arguments):
        try:
            return cached(*arguments)
        except _TooLarge as result:
            return result.args[0]

    _caches.append(cached)
    cached_or_new.cache_info = cached.cache_info
    return cached_or_new
