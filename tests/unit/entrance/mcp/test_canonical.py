"""One text for what JSON means: the vectors of RFC 8785, and what holds for all."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.canonical import canonical, hash_of

NUMBERS = [
    (0.0, "0"), (-0.0, "0"), (5e-324, "5e-324"), (-5e-324, "-5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"), (9007199254740992.0, "9007199254740992"),
    (295147905179352830000.0, "295147905179352830000"), (1e21, "1e+21"), (1e23, "1e+23"),
    (9.999999999999997e22, "9.999999999999997e+22"), (0.000001, "0.000001"), (1e-7, "1e-7"),
    (333333333.33333329, "333333333.3333333"), (1e-27, "1e-27"), (4.50, "4.5"), (2e-3, "0.002"),
    (1e30, "1e+30"), (-1424953923781206.2, "-1424953923781206.2"), (12.0, "12"), (0.1, "0.1"),
]  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-(2.0**53), 2.0**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
)


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_a_number_is_written_as_ecmascript_writes_it(number: float, text: str) -> None:
    assert canonical(number) == text


def test_the_example_of_the_standard() -> None:
    given_ = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical(given_) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_utf_16() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    text = canonical(dict.fromkeys(names, 0))
    order = list(orjson.loads(text))
    assert order == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@given(JSON)
def test_it_means_the_same_and_has_one_form(value: Any) -> None:
    text = canonical(value)
    assert orjson.loads(text) == value
    assert canonical(orjson.loads(text)) == text


def test_a_whole_number_keeps_all_its_digits() -> None:
    assert canonical({"n": 2**60 + 1}) == '{"n":1152921504606846977}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), "\ud800"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical([value])


def test_the_hash_is_of_the_text() -> None:
    assert hash_of("{}") == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
