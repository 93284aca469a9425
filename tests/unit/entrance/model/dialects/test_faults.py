"""What providers say of an error, in their own words, and what kind of trouble that is."""

from typing import Any

import pytest

from entrance.model.dialects.faults import ANTHROPIC, GEMINI, OPENAI
from entrance.model.dialects.trouble import Fault, Faults, Kind, fault_in, in_short, kind_of


def claude(kind: str, message: str = "") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def gpt(code: str | None, message: str = "", kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def gemini(code: int, status: str, message: str = "", reason: str = "") -> dict[str, Any]:
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}
    error = {
        "code": code,
        "message": message,
        "status": status,
        "details": [info] if reason else [],
    }
    return {"error": error}


TOLD: list[tuple[Faults, int, Any, Kind]] = [
    (ANTHROPIC, 400, claude("invalid_request_error", "messages: at least one"), "bad_request"),
    (
        ANTHROPIC, 400,
        claude("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
        "context_overflow",
    ),
    (
        ANTHROPIC, 400,
        claude("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2"),
        "context_overflow",
    ),
    (
        ANTHROPIC, 400,
        claude("invalid_request_error", "Your credit balance is too low to access the API."),
        "credential",
    ),
    (ANTHROPIC, 401, claude("authentication_error", "invalid x-api-key"), "credential"),
    (ANTHROPIC, 402, claude("billing_error"), "credential"),
    (ANTHROPIC, 403, claude("permission_error"), "credential"),
    (ANTHROPIC, 404, claude("not_found_error", "model: claude-x"), "bad_request"),
    (ANTHROPIC, 413, claude("request_too_large"), "context_overflow"),
    (ANTHROPIC, 429, claude("rate_limit_error"), "rate_limit"),
    (ANTHROPIC, 500, claude("api_error"), "provider_error"),
    (ANTHROPIC, 504, claude("timeout_error"), "provider_error"),
    (ANTHROPIC, 529, claude("overloaded_error"), "overloaded"),
    (ANTHROPIC, 200, claude("overloaded_error"), "overloaded"),
    (ANTHROPIC, 200, claude("api_error"), "provider_error"),
    (OPENAI, 400, gpt(None, "Unknown parameter"), "bad_request"),
    (OPENAI, 400, gpt("context_length_exceeded"), "context_overflow"),
    (
        OPENAI, 400,
        gpt(None, "This model's maximum context length is 8192 tokens. However, you ..."),
        "context_overflow",
    ),
    (OPENAI, 400, gpt("string_above_max_length"), "context_overflow"),
    (OPENAI, 401, gpt("invalid_api_key", "Incorrect API key provided"), "credential"),
    (OPENAI, 402, gpt("insufficient_quota", "", "insufficient_quota"), "credential"),
    (OPENAI, 403, gpt("unsupported_country_region_territory"), "credential"),
    (OPENAI, 404, gpt("model_not_found"), "bad_request"),
    (OPENAI, 429, gpt("insufficient_quota", "", "insufficient_quota"), "credential"),
    (OPENAI, 429, gpt(None, "You exceeded your current quota, please check ..."), "credential"),
    (OPENAI, 429, gpt("rate_limit_exceeded", "", "tokens"), "rate_limit"),
    (OPENAI, 429, gpt(None, "", "requests"), "rate_limit"),
    (OPENAI, 500, gpt(None, "", "server_error"), "provider_error"),
    (OPENAI, 503, gpt("slow_down", "", "server_error"), "overloaded"),
    (OPENAI, 200, {"response": gpt("server_is_overloaded")}, "overloaded"),
    (OPENAI, 200, {"type": "error", "code": "rate_limit_exceeded", "message": ""}, "rate_limit"),
    (OPENAI, 200, {"response": gpt("server_error")}, "provider_error"),
    (GEMINI, 400, gemini(400, "INVALID_ARGUMENT", "Invalid JSON payload"), "bad_request"),
    (
        GEMINI, 400,
        gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        "credential",
    ),
    (GEMINI, 400, gemini(400, "INVALID_ARGUMENT", "", "API_KEY_INVALID"), "credential"),
    (GEMINI, 400, gemini(400, "FAILED_PRECONDITION", "Please enable billing"), "credential"),
    (
        GEMINI, 400,
        gemini(
            400, "INVALID_ARGUMENT",
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        ),
        "context_overflow",
    ),
    (GEMINI, 403, gemini(403, "PERMISSION_DENIED"), "credential"),
    (GEMINI, 404, gemini(404, "NOT_FOUND"), "bad_request"),
    (GEMINI, 429, gemini(429, "RESOURCE_EXHAUSTED"), "rate_limit"),
    (GEMINI, 429, [gemini(429, "RESOURCE_EXHAUSTED")], "rate_limit"),
    (GEMINI, 500, gemini(500, "INTERNAL"), "provider_error"),
    (GEMINI, 503, gemini(503, "UNAVAILABLE"), "overloaded"),
    (GEMINI, 504, gemini(504, "DEADLINE_EXCEEDED"), "provider_error"),
    (GEMINI, 200, gemini(503, "UNAVAILABLE"), "overloaded"),
]  # fmt: skip


@pytest.mark.parametrize(("faults", "status", "told", "kind"), TOLD)
def test_each_error_has_its_kind(faults: Faults, status: int, told: object, kind: Kind) -> None:
    assert kind_of(status, fault_in(told), faults) == kind


@pytest.mark.parametrize("faults", [ANTHROPIC, OPENAI, GEMINI], ids=["claude", "gpt", "gemini"])
@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "bad_request"), (401, "credential"), (402, "credential"), (403, "credential"),
     (408, "provider_error"), (413, "context_overflow"), (422, "bad_request"), (429, "rate_limit"),
     (500, "provider_error"), (502, "provider_error"), (503, "overloaded"), (529, "overloaded")],
)  # fmt: skip
def test_an_error_without_words_goes_by_its_status(faults: Faults, status: int, kind: Kind) -> None:
    assert kind_of(status, Fault(), faults) == kind


def test_a_delay_is_read_in_seconds() -> None:
    told = gemini(429, "RESOURCE_EXHAUSTED")
    told["error"]["details"] = [{"@type": "RetryInfo", "retryDelay": "34.074824224s"}]
    assert fault_in(told).retry_after == "34.074824224"


@pytest.mark.parametrize(
    "told",
    [None, 3, "x", [], [3], {}, {"error": None}, {"error": "x"}, {"error": {"details": 3}},
     {"error": {"message": 3, "type": [], "code": {}, "details": [{"retryDelay": "soon"}]}},
     {"response": {"error": []}}],
)  # fmt: skip
def test_what_is_no_error_tells_nothing(told: object) -> None:
    assert fault_in(told) == Fault()


def test_a_message_is_told_in_one_line() -> None:
    page = "<html>\n<head><title>502 Bad Gateway</title></head> " + "x" * 20_000
    assert in_short(page).startswith("502 Bad Gateway xxx")
    assert len(in_short(page)) == 300
    assert fault_in({"error": {"message": "a\n\tb\x00"}}).message == "a b\x00"
