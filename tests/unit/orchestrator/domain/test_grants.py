"""What an engagement's grants mean at the door."""

from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest

from entrance.mcp.policy import Call, decide
from entrance.session import Envelope
from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from orchestrator.domain.grants import (
    budget_of,
    door_name,
    folder_of,
    grant_for,
    session_for,
    with_own,
)
from orchestrator.domain.team import Repository
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, REPOSITORY, TASK


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://127.0.0.1:9000/team/thing.git", "127.0.0.1:9000/team/thing.git"),
        ("https://Git.Example/team/Thing.git/", "git.example/team/Thing.git"),
    ],
)
def test_a_repository_has_its_url_as_name_without_the_scheme(url: str, name: str) -> None:
    assert door_name(url) == name


@pytest.mark.parametrize(
    "url",
    [
        "", "thing.git", "file:///etc/passwd", "ssh://git@host/x.git", "ext::sh -c id",
        "https://user:pass@host/x.git", "https://host/", "https://host", "https://host/x?y=1",
        "https://host/x#y", "--upload-pack=evil", "https://host/a/../b.git", "https://host/x/..",
        "https://host/./x", "https://host/x\n.git", "https://host/x.git ", "https://host/\x1b[2J",
        "https://host\\@evil.example/x",
    ],
)  # fmt: skip
def test_only_plain_http_urls_are_repositories(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        door_name(url)


def test_a_folder_is_the_last_part_of_the_path() -> None:
    assert folder_of(REPOSITORY) == "thing"


def test_a_grant_covers_a_repository_with_or_without_a_slash() -> None:
    assert grant_for(ENGAGEMENT.grants, REPOSITORY + "/") == Repository(REPOSITORY)
    assert grant_for(ENGAGEMENT.grants, REPOSITORY + "x") is None


def test_a_run_may_spend_what_is_left_but_no_more_than_a_run_may() -> None:
    nearly = replace(ENGAGEMENT, spent_usd=Decimal("4.5"))
    assert budget_of(nearly, Decimal(2)) == Decimal("0.5")
    assert budget_of(ENGAGEMENT, Decimal(2)) == Decimal(2)


def test_push_is_open_only_in_the_tasks_own_repository() -> None:
    other = Repository("http://git.example:9000/team/other.git")
    grants = replace(ENGAGEMENT.grants, repositories=(Repository(REPOSITORY), other))
    session = session_for(
        a_run(task=TASK.id, model=AGENT.model), TASK, replace(ENGAGEMENT, grants=grants),
        address="10.0.0.2", token_sha256="0" * 64,
    )  # fmt: skip
    assert {grant.name: grant.push for grant in session.repositories} == {
        "git.example:9000/team/thing.git": True,
        "git.example:9000/team/other.git": False,
    }


def test_a_session_says_what_the_host_of_each_repository_is_and_for_which_run_it_is() -> None:
    url = "https://github.com/team/thing.git"
    hub = Repository(url, credential="hub", pull_requests=False)
    grants = replace(ENGAGEMENT.grants, repositories=(Repository(REPOSITORY), hub))
    session = session_for(
        a_run(task=TASK.id, model=AGENT.model), TASK, replace(ENGAGEMENT, grants=grants),
        address="10.0.0.2", token_sha256="0" * 64,
    )  # fmt: skip
    plain, known = session.repositories
    assert (plain.host, plain.api, plain.pull_requests) == ("plain", "", True)
    assert (known.host, known.api) == ("github", "https://api.github.com")
    assert (known.full_name, known.pull_requests) == ("team/thing", False)
    assert {plain.run, known.run} == {session.run}


def test_a_session_is_granted_the_runs_model_only_if_the_engagement_grants_it() -> None:
    run = a_run(task=TASK.id, model="anthropic:other")
    session = session_for(run, TASK, ENGAGEMENT, address="10.0.0.2", token_sha256="0" * 64)
    assert session.models == frozenset()


def test_every_run_draws_on_the_budget_of_its_engagement() -> None:
    generous = replace(ENGAGEMENT, grants=replace(ENGAGEMENT.grants, unpriced_models=True))
    run = a_run(task=TASK.id)
    session = session_for(run, TASK, generous, address="10.0.0.2", token_sha256="0" * 64)
    assert session.envelopes == (Envelope("engagement", ENGAGEMENT.id, ENGAGEMENT.budget_usd),)
    assert session.budget_usd == run.budget_usd
    assert session.unpriced_models


def test_a_delegated_run_draws_on_the_money_of_all_who_delegated() -> None:
    first, second, third = a_run(), a_run(budget_usd=Decimal("0.75")), a_run()
    lent = partial(session_for, address="10.0.0.2", token_sha256="0" * 64)
    session = lent(second, TASK, ENGAGEMENT, lender=first)
    session = lent(third, TASK, ENGAGEMENT, lender=replace(second, session=session))
    assert session.envelopes == (
        Envelope("engagement", ENGAGEMENT.id, ENGAGEMENT.budget_usd),
        Envelope("run", second.id, Decimal("0.75")),
        Envelope("run", first.id, first.budget_usd),
    )


def test_every_run_that_has_tools_may_ask_for_more_and_one_that_has_none_has_none() -> None:
    nothing: frozenset[str] = frozenset()
    asking = frozenset({"request_access", "wait_for_decision", "list_my_tools"})
    assert with_own({"polarion": frozenset({"get_task"})}) == {"polarion": asking | {"get_task"}}
    assert with_own({"jira": frozenset({"x"})}) == {"jira": {"x"}, "polarion": asking}
    assert with_own({"polarion": nothing}) == with_own({}) == {}


def test_who_says_more_of_polarions_tools_leaves_those_that_end_a_run_as_they_are() -> None:
    rules = {"polarion": ConnectionRules({"add_comment": ToolRule(Mode.APPROVAL)})}
    hired = replace(ENGAGEMENT, grants=replace(ENGAGEMENT.grants, tools={}, tool_rules=rules))
    session = session_for(a_run(), TASK, hired, address="10.0.0.2", token_sha256="0" * 64)
    words = {
        tool: decide(session, Call("polarion", tool)).decision.word
        for tool in ("add_comment", "submit_for_approval", "request_access", "get_task")
    }
    assert words == {
        "add_comment": "hold",
        "submit_for_approval": "allow",
        "request_access": "allow",
        "get_task": "hold",
    }
    assert session.tools["polarion"] >= {"add_comment", "submit_for_approval", "request_access"}


def test_a_session_may_go_on_with_what_its_task_continues() -> None:
    task = replace(TASK, continues=frozenset({"DEMO-6"}))
    session = session_for(a_run(), task, ENGAGEMENT, address="10.0.0.2", token_sha256="0" * 64)
    assert session.continues == {"DEMO-6"}
