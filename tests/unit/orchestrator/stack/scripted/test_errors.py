"""Errors and counts, in each provider's own shape."""

from typing import Any

import pytest

from orchestrator.stack.scripted.answers import Tokens
from orchestrator.stack.scripted.dialects import Dialect
from orchestrator.stack.scripted.dialects.anthropic import Anthropic
from orchestrator.stack.scripted.dialects.gemini import Gemini
from orchestrator.stack.scripted.dialects.openai_chat import OpenAIChat
from orchestrator.stack.scripted.dialects.openai_responses import OpenAIResponses

OPENAI: tuple[Dialect, ...] = (OpenAIResponses(), OpenAIChat())
DIALECTS: tuple[Dialect, ...] = (Anthropic(), *OPENAI, Gemini())


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (429, "rate_limit_error"), (529, "overloaded_error"), (500, "api_error")],
)  # fmt: skip
def test_anthropics_errors_have_a_type(status: int, kind: str) -> None:
    error = {"type": kind, "message": "no"}
    assert Anthropic().error(status, "no") == {"type": "error", "error": error, "request_id": None}


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (401, "invalid_request_error", "invalid_api_key"),
        (429, "tokens", "rate_limit_exceeded"),
        (529, "server_error", None),
    ],
)
@pytest.mark.parametrize("dialect", OPENAI)
def test_openais_errors_have_a_type_and_a_code(
    dialect: Dialect, status: int, kind: str, code: str | None
) -> None:
    error = {"message": "no", "type": kind, "param": None, "code": code}
    assert dialect.error(status, "no") == {"error": error}


@pytest.mark.parametrize(
    ("status", "name"), [(401, "UNAUTHENTICATED"), (503, "UNAVAILABLE"), (529, "UNKNOWN")]
)
def test_googles_errors_have_a_status_and_say_when_to_retry(status: int, name: str) -> None:
    error: dict[str, Any] = {"code": status, "message": "no", "status": name}
    assert Gemini().error(status, "no") == {"error": error}
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}
    assert Gemini().error(status, "no", 2.0) == {"error": {**error, "details": [info]}}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_prompt_that_is_too_long_is_told_with_its_tokens(dialect: Dialect) -> None:
    assert "1234" in dialect.overflow(1234)["error"]["message"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_count_is_a_number(dialect: Dialect) -> None:
    assert 77 in dialect.count(77).values()


@pytest.mark.parametrize("dialect", DIALECTS[:3])
def test_most_dialects_tell_all_tokens_apart(dialect: Dialect) -> None:
    assert dialect.told(Tokens(1, 2, 3, 4, 5)) == Tokens(1, 2, 3, 4, 5)
