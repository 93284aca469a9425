"""A bad answer becomes the error that says what the caller does about it."""

import pytest

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable
from orchestrator.adapters.opensandbox.http import error_of


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Malformed),
        (401, Forbidden),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (422, Malformed),
        (429, Unavailable),
        (500, Unavailable),
        (502, Unavailable),
    ],
)
def test_the_status_says_which_error(status: int, kind: type[SandgateError]) -> None:
    assert type(error_of(status, "{}", what="GET /x")) is kind


@pytest.mark.parametrize(
    "body",
    [
        '{"code": "SANDBOX::X", "message": "no such"}',
        '{"detail": {"code": "SANDBOX::X", "message": "no such"}}',
    ],
)
def test_the_servers_own_words_are_passed_on(body: str) -> None:
    sentence = str(error_of(400, body, what="POST /v1/sandboxes"))
    assert "POST /v1/sandboxes: 400 SANDBOX::X no such" in sentence


def test_a_page_of_text_is_cut() -> None:
    assert len(str(error_of(502, "x" * 5000, what="GET /x"))) < 400
