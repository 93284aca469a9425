"""Session ids that carry what was agreed on."""

import pytest

from entrance.mcp.session_ids import Agreed, agreed_in, can_be_asked, issue

NONCE = "abcdefghij-klmnop_qrst"
AGREED = Agreed("2025-06-18", frozenset({"sampling", "roots"}))


def test_an_id_says_what_was_agreed_on_to_whoever_it_was_issued_to() -> None:
    session_id = issue(AGREED, NONCE, "token")
    assert agreed_in(session_id, "token") == AGREED
    assert agreed_in(session_id, "another") is None


@pytest.mark.parametrize("place", range(len(issue(AGREED, NONCE, "token"))))
def test_an_id_that_was_changed_anywhere_is_unknown(place: int) -> None:
    session_id = issue(AGREED, NONCE, "token")
    other = "1" if session_id[place] != "1" else "2"
    changed = session_id[:place] + other + session_id[place + 1 :]
    assert agreed_in(changed, "token") is None


@pytest.mark.parametrize("session_id", ["", "x", "9" * 60, "../..", "é"])
def test_what_is_no_id_is_unknown(session_id: str) -> None:
    assert agreed_in(session_id, "token") is None


def test_only_what_a_client_declares_can_be_asked() -> None:
    assert can_be_asked({"elicitation": {}, "tasks": {}}) == {"elicitation"}
    assert can_be_asked([1]) == frozenset()
    assert can_be_asked(None) == frozenset()
