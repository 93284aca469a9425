"""Which headers pass."""

import pytest

from entrance.model.headers import back, onward, retry_after


def test_the_clients_credentials_and_marks_stay_behind() -> None:
    passed = onward(
        {
            "Authorization": "Bearer t",
            "X-Api-Key": "t",
            "Cookie": "a=b",
            "Host": "elsewhere",
            "Accept-Encoding": "br",
            "Content-Type": "text/plain",
            "Content-Length": "7",
            "X-Stainless-OS": "Linux",
            "X-Claude-Code-Session-Id": "s",
            "Anthropic-Version": "2026-10-21",
            "anthropic-beta": "a,b",
            "User-Agent": "ua",
        },
        frozenset({"anthropic-beta", "anthropic-version"}),
    )
    assert passed == {
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "a,b",
        "user-agent": "ua",
        "content-type": "application/json",
        "accept-encoding": "identity",
    }


def test_only_what_a_client_needs_comes_back() -> None:
    assert back(
        {
            "Content-Type": "text/event-stream",
            "Content-Length": "7",
            "Request-Id": "r",
            "Retry-After": "1",
            "Set-Cookie": "a=b",
            "Server": "s",
            "Anthropic-Organization-Id": "o",
            "Anthropic-Ratelimit-Requests-Remaining": "9",
        }
    ) == {
        "content-type": "text/event-stream",
        "request-id": "r",
        "retry-after": "1",
        "anthropic-ratelimit-requests-remaining": "9",
    }


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"retry-after": "7"}, "7"),
        ({"retry-after": "2.5"}, "2.5"),
        ({"retry-after": "Fri, 31 Dec 2027 23:59:59 GMT"}, "Fri, 31 Dec 2027 23:59:59 GMT"),
        ({"retry-after-ms": "6500", "retry-after": "7"}, "6.5"),
        ({"retry-after-ms": "soon", "retry-after": "7"}, "7"),
        ({"retry-after": "sk-ant-a-key-that-was-echoed"}, ""),
        ({"retry-after": "7 sk-ant"}, ""),
        ({"retry-after": "-1"}, ""),
        ({}, ""),
    ],
)
def test_when_to_ask_again_is_a_time_and_nothing_else(headers: dict[str, str], told: str) -> None:
    assert retry_after(headers) == told
