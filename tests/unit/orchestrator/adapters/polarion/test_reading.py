"""Work items as what they mean to us: what can't be read opens nothing."""

from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.tool_policy import BeyondTools, Mode, Scope, ToolRule
from orchestrator.adapters.polarion.reading import (
    agent_of,
    engagement_of,
    grants_json,
    grants_of,
    skill_of,
    task_of,
)
from orchestrator.adapters.polarion.resources import EPOCH, Text, WorkItem
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.egress_text import policy_of
from orchestrator.domain.push_demand import Demand
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.team import Grants, Repository

URL = "https://git.example/a/b"


def item(**given: Any) -> WorkItem:
    fields: dict[str, Any] = {
        "id": "DEMO/DEMO-1",
        "type": "x",
        "title": "T",
        "status": "active",
        "description": Text(""),
        "author": "lead",
        "assignees": (),
        "custom": {},
        "created": EPOCH,
        "updated": EPOCH,
    }
    return WorkItem(**{**fields, **given})


def hired(**custom: Any) -> Any:
    return engagement_of(item(custom=custom))


NAMES = st.text(max_size=12)
GRANTS = st.builds(
    Grants,
    tools=st.dictionaries(NAMES, st.frozensets(NAMES)),
    repositories=st.lists(
        st.builds(
            Repository, st.sampled_from([URL, "http://h:1/x"]), st.booleans(), st.none() | NAMES
        )
        | st.builds(
            Repository,
            st.just("https://git.example/team/thing.git"),
            st.booleans(),
            st.none() | NAMES,
            st.sampled_from(["github", "gitlab", "gitea"]),
            st.sampled_from(["", "https://git.example/api"]),
            st.booleans(),
        )
    ).map(tuple),
    models=st.frozensets(NAMES),
    unpriced_models=st.booleans(),
)


@given(GRANTS)
def test_grants_come_back_as_they_were_written(grants: Grants) -> None:
    assert grants_of(grants_json(grants)) == grants


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("all", id="no JSON"),
        pytest.param("null", id="null"),
        pytest.param("[]", id="a list"),
        pytest.param('{"models": ["m"]', id="JSON that is cut"),
        pytest.param('{"models": ["m"]} {}', id="more after it"),
        pytest.param('{"models": ["m"], "admin": true}', id="an extra key"),
        pytest.param('{"models": "m"}', id="a text for a list"),
        pytest.param('{"models": ["m", 7]}', id="a number among names"),
        pytest.param('{"models": null}', id="null for a list"),
        pytest.param('{"models": ["m"], "tools": {"polarion": "get_task"}}', id="a tool's name alone"),
        pytest.param('{"models": ["m"], "tools": {"polarion": true}}', id="all tools"),
        pytest.param(f'{{"models": ["m"], "repositories": ["{URL}"]}}', id="a URL alone"),
        pytest.param('{"models": ["m"], "repositories": [{"push": true}]}', id="no URL"),
        pytest.param(
            f'{{"models": ["m"], "repositories": [{{"url": "{URL}", "push": "yes"}}]}}',
            id="yes for true",
        ),
        pytest.param(
            f'{{"models": ["m"], "repositories": [{{"url": "{URL}", "push": 1}}]}}', id="1 for true"
        ),
        pytest.param(
            f'{{"models": ["m"], "repositories": [{{"url": "{URL}", "force": true}}]}}',
            id="an extra key inside",
        ),
        pytest.param(
            f'{{"models": ["m"], "repositories": [{{"url": "{URL}", "host": "svn"}}]}}',
            id="a host that there is not",
        ),
        pytest.param(
            '{"models": ["m"], "repositories": [{"url": "https://h/a/b/c", "host": "github"}]}',
            id="no repository of the host that it is said to have",
        ),
        pytest.param(
            '{"models": ["m"], "repositories": [{"url": "ssh://git.example/a"}]}', id="not http"
        ),
        pytest.param(
            '{"models": ["m"], "repositories": [{"url": "https://u:p@git.example/a"}]}',
            id="a password in a URL",
        ),
        pytest.param('{"models": ["m"], "tools": ' + "[" * 5000, id="very deep"),
    ],
)  # fmt: skip
def test_grants_that_are_not_exactly_right_grant_nothing(text: str) -> None:
    assert grants_of(text) == Grants()


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_no_text_makes_grants_raise(text: str) -> None:
    assert grants_of(text) == Grants()


POLICY = """rules:
  - host: a.example
    methods: [GET]
"""


def test_what_an_engagement_and_an_agent_may_reach_is_read_from_their_field() -> None:
    policy = policy_of(POLICY, "")
    assert isinstance(policy, Policy)
    assert policy.rules
    assert hired(egress=Text(POLICY)).egress == policy
    assert hired(egress=Text(f"<pre>{POLICY}</pre>", "text/html")).egress == policy
    assert agent_of(item(custom={"egress": Text(POLICY)}), ()).egress == policy
    assert hired().egress == Policy()


def test_what_an_engagement_asks_of_pushes_is_read_from_its_field() -> None:
    assert hired(pushes=Text("max_file_size: 1 MiB")).pushes == Demand(max_file_bytes=1 << 20)
    assert hired().pushes == Demand()
    read = hired(pushes=Text("max_file_size: large")).pushes
    assert isinstance(read, Unreadable)
    assert read.reason.startswith("pushes of DEMO/DEMO-1, line 1: max_file_size")
    assert isinstance(hired(pushes=7).pushes, Unreadable)


@pytest.mark.parametrize("text", [Text("rules: [{host: a"), Text(f"<p>{POLICY}</p>", "text/html")])
def test_a_policy_that_can_not_be_read_names_its_item(text: Text) -> None:
    read = hired(egress=text).egress
    assert isinstance(read, Unreadable)
    assert read.reason.startswith("egress of DEMO/DEMO-1, line 1:")


def test_grants_are_read_from_a_rich_text_too() -> None:
    """Somebody edited them in Polarion's own editor."""
    markup = "<p>{&quot;models&quot;:</p><p>[&quot;m&quot;]}</p>"
    assert hired(grants=Text(markup, "text/html")).grants == Grants(models=frozenset({"m"}))
    assert hired(grants=Text('{"models": ["m"]}')).grants == Grants(models=frozenset({"m"}))
    assert hired(grants=7).grants == Grants()


@pytest.mark.parametrize(
    ("budget", "spent", "left"),
    [
        (5, 1, 4),
        (5.5, 0.25, Decimal("5.25")),
        (5, None, 5),
        (5, 7, 0),
        pytest.param(None, None, 0, id="no budget"),
        pytest.param("5", None, 0, id="a text"),
        pytest.param(True, None, 0, id="true"),
        pytest.param(float("nan"), None, 0, id="not a number"),
        pytest.param(float("inf"), None, 0, id="without end"),
        pytest.param(-5, None, 0, id="below zero"),
        pytest.param(-5, -10, 0, id="both below zero"),
        pytest.param(5, -100, 5, id="less than nothing spent"),
        pytest.param(5, float("nan"), 0, id="spent not a number"),
        pytest.param(5, float("-inf"), 0, id="spent minus infinity"),
        pytest.param(5, "1", 0, id="spent a text"),
        pytest.param(5, {"amount": 1}, 0, id="spent an object"),
    ],
)
def test_a_budget_that_can_not_be_read_leaves_nothing(budget: Any, spent: Any, left: Any) -> None:
    engagement = hired(budget=budget, spent=spent)
    assert engagement.left_usd == left
    assert engagement.left_usd <= max(engagement.budget_usd, Decimal(0))


@given(st.integers() | st.floats() | st.text() | st.booleans() | st.none(), st.floats())
def test_no_amount_opens_more_than_the_budget(budget: Any, spent: float) -> None:
    engagement = hired(budget=budget, spent=spent)
    assert 0 <= engagement.left_usd <= engagement.budget_usd


def test_an_engagement_is_read_whole() -> None:
    read = hired(agentBot="bot-rex", supervisor="lead", budget=1.0)
    assert (read.id, read.project, read.bot) == ("DEMO/DEMO-1", "DEMO", "bot-rex")
    assert (read.supervisor, read.active) == ("lead", True)
    assert not engagement_of(item(status="ended")).active
    assert hired(agentBot=7, supervisor=None).bot == ""


def test_a_task_is_read_whole() -> None:
    read = task_of(
        item(
            status="sent_back",
            description=Text("<p>a</p><p>b</p>", "text/html"),
            assignees=("bot-rex",),
            custom={"repository": URL, "baseBranch": "next"},
        )
    )
    assert (read.status, read.description) == (TaskStatus.SENT_BACK, "a\nb")
    assert (read.repository, read.base_branch, read.assignees) == (URL, "next", ("bot-rex",))
    bare = task_of(item(status="a status of their own", custom={"repository": None}))
    assert (bare.status, bare.repository, bare.base_branch) == (TaskStatus.OTHER, "", "main")


def test_an_agent_and_its_skills_are_read_as_plain_text() -> None:
    words = Text("<b>Be</b> kind.", "text/html")
    read = agent_of(
        item(custom={"botUser": "bot-rex", "model": "a:b", "harness": "native", "instructions": words}),
        (skill_of(item(title="test", custom={"instructions": words})),),
    )  # fmt: skip
    assert (read.bot, read.model, read.harness) == ("bot-rex", "a:b", "native")
    assert (read.instructions, read.skills[0].text) == ("Be kind.", "Be kind.")
    assert skill_of(item(description=Text("by hand"))).text == "by hand"


def test_what_grants_are_written_as_is_json_with_sorted_names() -> None:
    grants = Grants({"polarion": frozenset({"b", "a"})}, (Repository(URL),), frozenset({"m"}))
    assert orjson.loads(grants_json(grants)) == {
        "tools": {"polarion": ["a", "b"]},
        "repositories": [{"url": URL, "push": True, "credential": None}],
        "models": ["m"],
    }


def test_grants_of_a_connection_can_say_more_than_a_list() -> None:
    text = orjson.dumps(
        {
            "tools": {
                "polarion": ["get_task"],
                "wiki": {
                    "tools": {
                        "read": "read",
                        "write": {"arguments": {"maxProperties": 2}, "two_people": True},
                    },
                    "scope": {"projects": ["P"]},
                    "prompts": ["greet"],
                    "resources": ["wiki://P/*", "wiki://Q"],
                    "asks": ["elicitation"],
                },
            }
        }
    ).decode()
    read = grants_of(text)
    assert read.tools == {"polarion": {"get_task"}}
    wiki = read.tool_rules["wiki"]
    assert wiki.tools["read"] == ToolRule(Mode.READ)
    assert wiki.tools["write"] == ToolRule(arguments='{"maxProperties":2}', two_people=True)
    assert (wiki.others, wiki.scope) == (Mode.APPROVAL, Scope(projects=frozenset({"P"})))
    assert wiki.more == BeyondTools(
        frozenset({"greet"}), ("wiki://P/*", "wiki://Q"), frozenset({"elicitation"})
    )
    assert grants_of(grants_json(read)) == read


@pytest.mark.parametrize(
    "wiki",
    [
        pytest.param({"tools": {"t": "maybe"}}, id="a mode that there isn't"),
        pytest.param({"others": "read"}, id="what nobody named is never called at once"),
        pytest.param({"tools": {"t": {"arguments": {"type": 3}}}}, id="no schema"),
        pytest.param(
            {"tools": {"t": {"arguments": {"$ref": "http://h/"}}}}, id="one to be fetched"
        ),
        pytest.param({"tool": {}}, id="an unknown word"),
        pytest.param({"asks": ["everything"]}, id="a question that there isn't"),
        pytest.param({"resources": ["wiki://*/a"]}, id="a star that is not at the end"),
        pytest.param({"resources": ["a b"]}, id="what is no URI"),
        pytest.param({"resources": [""]}, id="nothing at all"),
    ],
)
def test_grants_of_a_connection_that_can_not_be_read_grant_nothing(wiki: object) -> None:
    assert grants_of(orjson.dumps({"tools": {"wiki": wiki}, "models": ["m"]}).decode()) == Grants()
