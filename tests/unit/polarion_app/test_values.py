"""What a write may send, field by field."""

from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polarion_app.config import load
from polarion_app.embedded.errors import ApiError
from polarion_app.embedded.values import checked_attributes

MODEL = load()


def check(type_id: str, *, strict: bool = False, **attributes: Any) -> dict[str, Any]:
    return checked_attributes(attributes, type_id, MODEL, strict=strict, pointer="$.data")


@pytest.mark.parametrize(
    ("type_id", "key", "value", "stored"),
    [
        ("task", "title", "ü", "ü"),
        ("task", "priority", "70.0", "70.0"),
        ("task", "priority", "urgent", "50.0"),
        ("task", "status", "imaginary", "imaginary"),
        ("task", "dueDate", "2026-12-01", "2026-12-01"),
        (
            "task",
            "description",
            {"type": "text/html", "value": "<p>"},
            {"type": "text/html", "value": "<p>"},
        ),
        ("task", "repository", None, None),
        ("task", "unknown", 7, 7),
        ("task", "unknown", ["a"], ["a"]),
        (
            "task",
            "unknown",
            {"type": "text/plain", "value": "x"},
            {"type": "text/plain", "value": "x"},
        ),
        ("task", "unknown", {"keys": ["a"], "rows": []}, {"keys": ["a"], "rows": []}),
        ("engagement", "budget", 5, 5),
        ("engagement", "budget", 5.25, 5.25),
        ("agentRun", "inputTokens", 7, 7),
        ("agentRun", "startedAt", "2026-01-01T12:00:00+02:00", "2026-01-01T10:00:00.000Z"),
        ("agentRun", "startedAt", "2026-01-01T12:00:00", "2026-01-01T12:00:00.000Z"),
        ("agent", "harness", "other", "other"),
    ],
)
def test_a_value_is_stored(type_id: str, key: str, value: Any, stored: Any) -> None:
    """Lenient: unknown options and keys are kept, as Polarion keeps them."""
    assert check(type_id, **{key: value}) == {key: stored}


@pytest.mark.parametrize(
    ("type_id", "key", "value", "detail"),
    [
        ("task", "title", 7, "STRING expected, but was : NUMBER"),
        ("task", "title", None, "can't be null"),
        ("task", "description", "plain", "BEGIN_OBJECT expected, but was : STRING"),
        ("task", "description", {"type": "text/rtf", "value": ""}, "text/html or text/plain"),
        ("task", "description", {"type": "text/html", "value": 1}, "STRING expected"),
        ("task", "dueDate", "soon", "not a date"),
        ("task", "hyperlinks", {}, "BEGIN_ARRAY expected"),
        ("task", "aiGenerated", None, "can't be null"),
        ("task", "aiGenerated", "true", "BOOLEAN expected, but was : STRING"),
        ("task", "repository", {"a": 1}, "STRING expected, but was : BEGIN_OBJECT"),
        ("task", "customFields", {"a": 1}, "STRING expected, but was : BEGIN_OBJECT"),
        ("task", 'a"b', "x", "not the name of a field"),
        ("task", "", "x", "not the name of a field"),
        ("engagement", "budget", "5", "NUMBER expected, but was : STRING"),
        ("engagement", "budget", True, "NUMBER expected, but was : BOOLEAN"),
        ("agentRun", "inputTokens", 1.5, "NUMBER expected"),
        ("agentRun", "startedAt", "noon", "not a time"),
    ],
)
def test_a_wrong_json_type_is_refused(type_id: str, key: str, value: Any, detail: str) -> None:
    """In both modes, with the pointer of the field."""
    for strict in (False, True):
        with pytest.raises(ApiError, match=detail) as caught:
            check(type_id, strict=strict, **{key: value})
        assert str(caught.value.pointer).startswith(f"$.data.attributes.{key}")


def test_read_only_fields_are_left_out() -> None:
    assert check("task", id="X", created="never", title="T") == {"title": "T"}


@pytest.mark.parametrize(
    ("type_id", "attributes"),
    [
        ("nonsense", {"title": "T"}),
        ("task", {"status": "imaginary"}),
        ("task", {"severity": "imaginary"}),
        ("task", {"priority": "urgent"}),
        ("task", {"budget": 5}),
        ("agent", {"harness": "other"}),
    ],
)
def test_strictness_refuses_the_unknown(type_id: str, attributes: dict[str, Any]) -> None:
    """CASE-111."""
    with pytest.raises(ApiError):
        check(type_id, strict=True, **attributes)


def test_strictness_lets_the_known_pass() -> None:
    assert check(
        "agent", strict=True, harness="native", status="active", title="Rex", priority="50.0"
    )


def refused_with(type_id: str, key: str, value: Any) -> HTTPStatus | None:
    try:
        check(type_id, **{key: value})
    except ApiError as refused:
        return refused.status
    return None


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_json_value_is_stored_or_refused(value: Any) -> None:
    """No value makes a field's check fail otherwise."""
    for type_id in ("task", "agentRun", "engagement", "agent"):
        for key in (*MODEL.fields_of(type_id), "title", "dueDate", "hyperlinks", "whatever"):
            assert refused_with(type_id, key, value) in {None, HTTPStatus.BAD_REQUEST}
