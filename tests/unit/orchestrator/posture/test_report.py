"""Reports: signed as a whole, bound to one configuration, with what people accepted."""

from datetime import timedelta

import pytest

from orchestrator.posture.report import Acceptance, Report
from orchestrator.posture.signed import as_json
from tests.fakes.posture import AT, CONFIGURATION, Key, report, tried


def acceptance(probe: str = "way", found: str = "reached", **changes: object) -> Acceptance:
    facts = {"probe": probe, "found": found, "why": "known", "by": "lead", "at": AT, "report": "r"}
    return Acceptance.model_validate(facts | changes)


def test_a_signed_report_comes_back_from_its_file_and_verifies() -> None:
    key = Key()
    kept = as_json(report(tried("way")).signed(key))
    back = Report.model_validate_json(kept)
    back.verify(key.public)
    assert back.key_id == "k1"


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "f" * 64},
        {"probes": [tried("way")]},
        {"probes": []},
        {"accepted": [acceptance()]},
        {"key_id": "k2"},
        {"ended_at": AT + timedelta(seconds=1)},
        {"signature": ""},
        {"signature": "zz"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_is_changed_in_it_is_seen(change: dict[str, object]) -> None:
    key = Key()
    signed = report(tried("way", ok=False)).signed(key)
    with pytest.raises(ValueError, match="it was changed"):
        signed.model_copy(update=change).verify(key.public)


def test_another_keys_signature_is_none() -> None:
    with pytest.raises(ValueError, match="not the installation's"):
        report().signed(Key()).verify(Key().public)


@pytest.mark.parametrize("part", list(type(CONFIGURATION).model_fields))
def test_every_part_of_the_configuration_makes_another_fingerprint(part: str) -> None:
    now = getattr(CONFIGURATION, part)
    other = {"x": "y"} if isinstance(now, dict) else "gvisor" if part == "tier" else "other"
    changed = CONFIGURATION.model_copy(update={part: other})
    assert changed.fingerprint() != CONFIGURATION.fingerprint()
    assert changed.changed_since(CONFIGURATION) == [part]


def test_a_failure_that_is_accepted_as_it_is_counts_no_more() -> None:
    failed = report(tried("way", ok=False), tried("other"))
    assert [one.name for one in failed.failures(now=AT)] == ["way"]
    assert failed.failures([acceptance()], now=AT) == []


@pytest.mark.parametrize(
    "word",
    [
        pytest.param(acceptance("other"), id="of another probe"),
        pytest.param(acceptance(found="reached 10.0.0.9:22"), id="of something else found"),
        pytest.param(acceptance(until=AT), id="over"),
    ],
)
def test_an_acceptance_covers_what_was_seen_then_and_nothing_else(word: Acceptance) -> None:
    assert report(tried("way", ok=False)).failures([word], now=AT)


def test_an_acceptance_is_signed_as_a_report_is() -> None:
    key = Key()
    signed = acceptance().signed(key)
    signed.verify(key.public)
    with pytest.raises(ValueError, match="changed"):
        signed.model_copy(update={"by": "somebody else"}).verify(key.public)
