"""Every cause has a status that refuses."""

import pytest

from proxy.decision import Allow, Cause, Deny, Hold


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_is_told_as_an_error(cause: Cause) -> None:
    assert 400 <= cause.status < 600


def test_a_decision_says_its_word_and_reason() -> None:
    assert (Allow("a.example", "web").word, Allow("a.example", "web").reason) == ("allow", "")
    assert Hold("why", "web").word == "hold"
    assert Deny("why", Cause.HOST).word == "deny"
