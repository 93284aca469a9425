"""Byte strings are found wherever they stand, as a plain search finds them."""

from hypothesis import given
from hypothesis import strategies as st

from entrance.git.quarantine.literals import literals

LETTERS = st.text("ab.\\[]()*+?{}^$|-# \n\0é", min_size=1, max_size=5).map(str.encode)


@given(st.lists(LETTERS, min_size=1, max_size=5, unique=True), LETTERS, LETTERS)
def test_any_of_them_is_found_and_nothing_else(
    forms: list[bytes], before: bytes, after: bytes
) -> None:
    find = literals(forms)
    for number, form in enumerate(forms):
        found = find(before + form + after)
        assert found is not None
        assert forms[found] in before + form + after
        assert find(form) == number or forms[find(form) or 0] in form
    text = before + after
    assert (find(text) is None) == (not any(form in text for form in forms))


def test_of_none_nothing_is_found() -> None:
    assert literals([])(b"anything") is None
