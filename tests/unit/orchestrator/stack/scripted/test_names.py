import re

import pytest

from orchestrator.stack.scripted import names


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("a {{x}} b", "a 1 b"),
        ("{x} {{ x }} {{{x}}}", "{x} {{ x }} {1}"),
        (r"\{{x}}", "{{x}}"),
    ],
)
def test_only_a_name_in_double_braces_is_replaced(text: str, filled: str) -> None:
    assert names.fill(text, {"x": "1"}) == filled


def test_every_text_of_a_value_is_filled_and_the_rest_stays() -> None:
    value = {"{{x}}": ["{{x}}", 3, None, True, {"k": "-{{x}}-"}]}
    assert names.fill_all(value, {"x": "1"}) == {"{{x}}": ["1", 3, None, True, {"k": "-1-"}]}
    assert set(names.used(value)) == {"x"}


def test_a_value_in_a_regular_expression_is_taken_literally() -> None:
    assert re.search(names.fill("^{{x}}$", {"x": "a.b"}, re.escape), "axb") is None


@pytest.mark.parametrize(
    ("pattern", "text", "taken"),
    [
        (r"id=(\d+)", "id=7 id=8", "7"),
        (r"\d+", "a 12", "12"),
        ("^b$", "a\nb", "b"),
        ("z", "a", None),
        ("a(z)?", "a", ""),
    ],
)
def test_a_capture_is_the_first_group_of_the_first_match(
    pattern: str, text: str, taken: str | None
) -> None:
    assert names.take(pattern, text) == taken
