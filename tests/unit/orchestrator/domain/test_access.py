"""What an agent asks for, the rule that opens it, and its test on what was recorded."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.session import RunId
from orchestrator.domain.access import (
    Attempt,
    BackTest,
    Edits,
    approved_rules,
    back_test,
    granted_of,
    item_id,
    rule_of,
    wanted,
    wanted_from,
    wanted_json,
)
from orchestrator.domain.approval import ApprovalState
from tests.fakes.approvals import ITEM
from tests.fakes.clock import START
from tests.fakes.egress import answer

NO_EDITS = Edits()


@pytest.mark.parametrize(
    ("place", "title"),
    [
        ("https://A.Example/x?y=1", "GET https://a.example/x?y=1"),
        ("http://a.example", "GET http://a.example/"),
        ("https://a.example:8443/x", "GET https://a.example:8443/x"),
        ("a.example", "GET https://a.example/**"),
    ],
)
def test_a_wish_is_told_in_one_form(place: str, title: str) -> None:
    assert wanted(place, "GET").title == title


@pytest.mark.parametrize(
    ("place", "method"),
    [
        ("https://a.example/", "CONNECT"),
        ("https://a.example/", "TRACE"),
        ("https://a.example/", "get"),
        ("ftp://a.example/", "GET"),
        ("https://user@a.example/", "GET"),
        ("https://a.example/#x", "GET"),
        ("https://10.0.0.1/", "GET"),
        ("https://[::1]/", "GET"),
        ("localhost", "GET"),
        ("", "GET"),
        ("*.a.example", "GET"),
        ("*", "GET"),
        ("https://*.a.example/", "GET"),
        ("a.example/x", "GET"),
        ("https://a.example/**", "GET"),
        ("https://a.example/%2A%2a", "GET"),
        ("https://a.example/%252a", "GET"),
        ("https://a.example/../b", "GET"),
        ("https://a.example:0/", "GET"),
        ("https://a.example:99999/", "GET"),
        ("https://a.example/" + "x" * 3000, "GET"),
        ("https://a.example/\x00", "GET"),
        ("https://a.exa\nmple/", "GET"),
    ],
)
def test_what_no_rule_could_name_can_not_be_asked_for(place: str, method: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        wanted(place, method)


@pytest.mark.parametrize(
    ("url", "method", "word"),
    [
        ("https://a.example/x/y?z=1", "GET", "allow"),
        ("https://a.example/x/y", "HEAD", "allow"),
        ("https://a.example/x/y/z", "GET", "deny"),
        ("https://a.example/x", "GET", "deny"),
        ("https://a.example/x/y", "POST", "deny"),
        ("http://a.example/x/y", "GET", "deny"),
        ("https://a.example:8443/x/y", "GET", "deny"),
        ("https://b.a.example/x/y", "GET", "deny"),
    ],
)
def test_a_url_that_is_allowed_opens_itself_and_nothing_beside_it(
    url: str, method: str, word: str
) -> None:
    rule = rule_of("i", wanted("https://a.example/x/y?z=1", "GET"), NO_EDITS)
    assert answer([rule], url, method) == word


def test_an_encoded_path_is_opened_as_it_was_asked_for() -> None:
    url = "https://a.example/@scope%2fname/a%20b"
    rule = rule_of("i", wanted(url, "GET"), NO_EDITS)
    assert answer([rule], url) == "allow"
    assert answer([rule], "https://a.example/@scope/other") == "deny"


def test_a_host_that_is_allowed_is_opened_whole_and_by_its_method_only() -> None:
    rule = rule_of("i", wanted("a.example", "POST"), NO_EDITS)
    assert answer([rule], "https://a.example/any/path", "POST") == "allow"
    assert answer([rule], "https://a.example/any/path") == "deny"


def test_a_person_may_open_more_or_less_than_was_asked_for() -> None:
    one = wanted("https://a.example/x/y", "GET")
    rule = rule_of("i", one, Edits("*.a.example", ("/x/**",)))
    assert answer([rule], "https://b.a.example/x/z") == "allow"
    assert answer([rule], "https://a.example/x/y") == "deny"
    with pytest.raises(ValueError, match="slash"):
        rule_of("i", one, Edits(paths=("x",)))


def test_once_is_one_use_and_every_rule_names_its_approval() -> None:
    one = wanted("a.example", "GET")
    assert rule_of("i", one, NO_EDITS, once=True).uses == 1
    assert rule_of("i", one, NO_EDITS).uses is None
    exact = rule_of("i", wanted("https://a.example/x?y=1", "GET"), NO_EDITS, once=True)
    assert answer([exact], "https://a.example/x?y=1") == "allow"
    for query in ("", "?y=2", "?y=1&z=secret", "?"):
        assert answer([exact], f"https://a.example/x{query}") == "deny"
    assert rule_of("i", one, NO_EDITS).approval == "i"


def test_a_rule_is_kept_whole_and_one_that_can_not_be_read_opens_nothing() -> None:
    rule = rule_of("i", wanted("https://a.example/x", "GET"), NO_EDITS, once=True)
    items = [
        replace(ITEM, granted=granted_of(rule)),
        replace(ITEM, granted={"host": "a.example"}),
        replace(ITEM, granted={**granted_of(rule), "more": 1}),
        ITEM,
    ]
    assert approved_rules(items) == [rule]
    one = wanted("https://a.example/x?y", "POST")
    assert wanted_from(wanted_json(one)) == one


def test_the_same_wish_of_a_run_is_the_same_item() -> None:
    run = RunId("r1")
    assert item_id(run, "egress", "GET x", 0) == item_id(run, "egress", "GET x", 0)
    others = {
        item_id(RunId("r2"), "egress", "GET x", 0), item_id(run, "push", "GET x", 0),
        item_id(run, "egress", "GET y", 0), item_id(run, "egress", "GET x", 1),
        item_id(run, "egress", "GET x", 0),
    }  # fmt: skip
    assert len(others) == 5
    assert all(len(one) == 15 and one.isalnum() and one == one.lower() for one in others)


def attempt(url: str, decision: str = "deny", run: str = "r1", method: str = "GET") -> Attempt:
    return Attempt(START + timedelta(minutes=1), method, url, decision, run)


def test_a_rule_is_tried_on_what_did_not_get_through() -> None:
    rule = rule_of("i", wanted("a.example", "GET"), NO_EDITS, once=True)
    denied = replace(
        ITEM,
        state=ApprovalState.DENIED,
        wanted={"method": "GET", "url": "https://a.example/secret"},
    )
    attempts = [
        attempt("https://a.example/x"),
        attempt("https://a.example/x", "hold", "r2"),
        attempt("https://a.example/secret"),
        attempt("https://a.example/x", "allow"),
        attempt("https://a.example/x", method="POST"),
        attempt("https://b.example/x"),
        attempt("no url at all"),
        attempt("https://a.example:x/"),
    ]
    found = back_test(rule, attempts, [denied, ITEM])
    assert found == BackTest(3, 1, 2, {"a.example": 3})


def test_a_tunnel_that_was_refused_says_only_where_it_was_to_lead() -> None:
    rule = rule_of("i", wanted("https://a.example/docs", "GET"), NO_EDITS)
    tunnel = replace(attempt("https://a.example:443/", method="CONNECT"), tunnel=True)
    other = replace(tunnel, url="https://a.example:8443/")
    denied = replace(ITEM, state=ApprovalState.DENIED, wanted={"host": "a.example"})
    assert back_test(rule, [tunnel, other], []).would_allow == 1
    assert back_test(rule, [tunnel, other], [denied]).denied_by_people == 1


@given(st.text(max_size=60), st.sampled_from(["GET", "POST", "x"]))
def test_no_text_makes_asking_raise_anything_else(place: str, method: str) -> None:
    try:
        one = wanted(place, method)
    except ValueError:
        return
    assert answer([rule_of("i", one, NO_EDITS)], one.url.replace("/**", "/"), method) == "allow"
