"""Argument types for argparse, shared by the programs of tests/peers."""

import argparse


def numbers(text):
    """Parses a list such as 1,4,8-10,20-40/5: A-B is every number from A to B, A-B/S every S-th."""
    found = []
    for part in text.split(","):
        ends, _, step = part.partition("/")
        first, _, last = ends.partition("-")
        found += range(int(first), int(last or first) + 1, int(step or 1))
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text} has no numbers from 1 on")
    return found


def words(allowed):
    def parse(text):
        unknown = [word for word in text.split(",") if word not in allowed]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]} is not one of {', '.join(allowed)}")
        return text.split(",")

    return parse
