"""One text for what JSON means, so that it has one hash: RFC 8785 [pure].

Names are sorted by their UTF-16 code units, numbers are written as ECMAScript writes them, nothing is
escaped that need not be. One thing is other than there: a whole number beyond 2**53 keeps all its digits,
as the server that it goes to may read them; it is not rounded.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import orjson

_DIGITS_PLAIN = 21
_LEAST_PLAIN = -6


def canonical(value: Any) -> str:
    """The text. Raises: ValueError for what JSON can't hold."""
    match value:
        case None | bool() | str():
            return _scalar(value)
        case int():
            return str(value)
        case float():
            return _number(value)
        case dict() | Mapping():  # the first is told at once
            names = sorted(value, key=lambda name: str(name).encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{_scalar(n)}:{canonical(value[n])}" for n in names) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(one) for one in value) + "]"
        case _:
            raise ValueError(f"{type(value).__name__} is nothing that JSON has")


def hash_of(text: str) -> str:
    """SHA-256 of a canonical text, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def _scalar(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError as error:  # a lone surrogate
        raise ValueError(str(error)) from error


def _number(value: float) -> str:
    """As ECMAScript's Number::toString; Python's shortest digits are the same ones."""
    if not math.isfinite(value):
        raise ValueError("JSON has no such number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _laid_out(digits, point)


def _laid_out(digits: str, point: int) -> str:
    """`0.DIGITS` times ten to the `point`."""
    if len(digits) <= point <= _DIGITS_PLAIN:
        return digits.ljust(point, "0")
    if 0 < point <= _DIGITS_PLAIN:
        return f"{digits[:point]}.{digits[point:]}"
    if _LEAST_PLAIN < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
