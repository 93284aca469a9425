"""Names that every client takes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.names import LONGEST, PREFIX, fitting

FITS = re.compile(r"[A-Za-z0-9_-]{1,64}")


@given(st.text(min_size=1, max_size=100))
def test_every_name_is_made_to_fit_the_same_way_each_time(name: str) -> None:
    assert FITS.fullmatch(PREFIX + fitting(name))
    assert fitting(name) == fitting(name)
    if FITS.fullmatch(PREFIX + name):
        assert fitting(name) == name


def test_names_that_differ_past_the_end_stay_different() -> None:
    one, two = "x" * LONGEST + "1", "x" * LONGEST + "2"
    assert fitting(one) != fitting(two)
    assert fitting("a.b") != fitting("a/b")
