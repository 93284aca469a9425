"""What is sent to a server, and how its answers are told apart."""

from typing import Any

import pytest

from entrance.errors import Malformed
from entrance.mcp.messages import Failure
from entrance.mcp.upstream import wire


@pytest.mark.parametrize(
    ("message", "status", "answers"),
    [
        ({"id": 7, "result": {}}, 200, True),
        ({"id": 8, "result": {}}, 200, False),
        ({"id": "7", "result": {}}, 200, False),
        ({"id": True, "result": {}}, 200, False),
        ({"id": [7], "result": {}}, 200, False),
        ({"result": {}}, 200, False),
        ({"id": None, "error": {}}, 400, True),
        ({"error": {}}, 500, True),
    ],
)
def test_an_answer_carries_our_number_or_is_a_refusal(
    message: dict[str, Any], status: int, *, answers: bool
) -> None:
    assert wire.is_answer(message, 7, status) is answers


def test_no_truth_is_taken_for_the_number_one() -> None:
    assert not wire.is_answer({"id": True}, 1, 200)


NO_SESSION = {"code": -32000, "message": "Bad Request: No valid session ID provided"}


@pytest.mark.parametrize(
    ("error", "status", "forgotten"),
    [
        (NO_SESSION, 400, True),
        (NO_SESSION, 200, False),
        (NO_SESSION, 500, False),
        ({**NO_SESSION, "code": -32602}, 400, False),
        ({"code": -32000, "message": "Unsupported protocol version"}, 400, False),
        ({"code": -32000, "message": ["session"]}, 400, False),
        ("session", 400, False),
    ],
)
def test_a_session_is_forgotten_only_where_the_server_took_nothing(
    error: object, status: int, *, forgotten: bool
) -> None:
    assert wire.is_forgotten({"error": error}, status) is forgotten


@pytest.mark.parametrize("version", [None, 3, "", "latest", "2025-06-18\r\nX-Evil: 1", "2025-6-1"])
def test_a_version_that_is_none_is_not_agreed_on(version: object) -> None:
    with pytest.raises(Malformed):
        wire.agreed_version({"protocolVersion": version})


def test_the_version_that_the_server_speaks_is_agreed_on() -> None:
    assert wire.agreed_version({"protocolVersion": "2024-11-05"}) == "2024-11-05"


def test_an_outcome_is_a_result_or_an_error() -> None:
    assert wire.outcome({"result": {"a": 1}}, 200) == {"a": 1}
    error = {"code": "odd", "message": {"x": "y"}, "data": [1]}
    assert wire.outcome({"error": error}, 400) == Failure(-32603, "{'x': 'y'}", [1], 400)
    with pytest.raises(Malformed):
        wire.outcome({"result": "words"}, 200)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("plain", "plain"),
        ("two words", "two words"),
        (" led by a blank", "=?base64?IGxlZCBieSBhIGJsYW5r?="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ("Zürich", "=?base64?WsO8cmljaA==?="),
        ("a\r\nb: c", "=?base64?YQ0KYjogYw==?="),
    ],
)
def test_a_header_carries_any_value(value: str, sent: str) -> None:
    assert wire.header_value(value) == sent


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"supported": ["2025-11-25", "2026-07-28"]}, ("2025-11-25", "2026-07-28")),
        ({"supported": [7, "2026-07-28", None]}, ("2026-07-28",)),
        ({"supported": "2026-07-28"}, ()),
        ({}, ()),
        ("2026-07-28", ()),
        (None, ()),
    ],
)
def test_a_refusal_names_the_versions_that_are_spoken(data: object, named: tuple[str, ...]) -> None:
    assert wire.versions_in(Failure(-32022, "no", data)) == named
