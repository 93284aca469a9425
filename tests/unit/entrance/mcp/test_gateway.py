"""The gateway over fakes: what is asked, what is told, what is on record."""

import itertools

import pytest

from entrance.errors import Malformed, Unavailable
from entrance.mcp.gateway import Gateway, Limits
from entrance.ports import ToolResult
from entrance.session import RunId, Session, TaskId
from tests.fakes.audit import FakeAudit
from tests.fakes.tools import FakeTools

SESSION = Session(
    RunId("r"),
    TaskId("P/T"),
    "P",
    "bot",
    "10.0.0.2",
    "h",
    tools={"tracker": frozenset({"get_item"}), "wiki": frozenset({"get_item"})},
)
KEY = {"key": "T-1"}


def gateway(audit: FakeAudit, *tools: FakeTools, limits: Limits | None = None) -> Gateway:
    ticks = itertools.count()
    return Gateway(tools, audit, lambda: float(next(ticks)), limits)


async def test_a_call_that_can_not_be_recorded_is_not_made() -> None:
    audit, tools = FakeAudit(), FakeTools()
    audit.down = True
    with pytest.raises(Unavailable):
        await gateway(audit, tools).call(SESSION, "get_item", KEY)
    assert not tools.calls


async def test_the_record_has_the_arguments_hash_and_not_the_arguments() -> None:
    audit = FakeAudit()
    await gateway(audit, FakeTools()).call(SESSION, "get_item", {"key": "private words"})
    assert "private words" not in repr(audit.records)
    [decided] = audit.decisions("tool_call")
    outcome = audit.outcome_of(decided)
    assert outcome is not None
    assert (outcome.result, outcome.detail["ms"]) == ("ok", 1000)


async def test_a_tool_that_hangs_is_given_up_with_a_word_about_what_is_not_known() -> None:
    """CASE-72: no blocking past the client's own limit."""
    audit, tools = FakeAudit(), FakeTools(hangs=True)
    limits = Limits(call_timeout_s=0.02)
    result = await gateway(audit, tools, limits=limits).call(SESSION, "get_item", KEY)
    assert result.is_error
    assert "not known" in result.text
    [decided] = audit.decisions("tool_call")
    outcome = audit.outcome_of(decided)
    assert outcome is not None
    assert outcome.result == "timeout"


async def test_a_tool_that_fails_tells_the_agent_why() -> None:
    class Broken(FakeTools):
        async def call(self, *args: object) -> ToolResult:
            raise Malformed("the tracker answered rubbish")

    result = await gateway(FakeAudit(), Broken()).call(SESSION, "get_item", KEY)
    assert result.is_error
    assert "rubbish" in result.text


async def test_one_connection_that_is_down_hides_only_its_own_tools() -> None:
    audit, up, down = FakeAudit(), FakeTools(), FakeTools("wiki", down=True)
    both = gateway(audit, up, down)
    assert [tool["name"] for tool in await both.tools(SESSION)] == ["get_item"]
    refused = await both.call(SESSION, "wiki_get_item", KEY)
    assert "wiki can't be reached" in refused.text


async def test_when_no_connection_can_be_reached_listing_says_so() -> None:
    with pytest.raises(Unavailable, match="tracker"):
        await gateway(FakeAudit(), FakeTools(down=True)).tools(SESSION)


async def test_connections_without_a_grant_are_not_even_asked() -> None:
    class Untouched(FakeTools):
        async def tools(self, session: Session) -> list[object]:  # type: ignore[override]
            raise AssertionError("asked")

    listed = await gateway(FakeAudit(), FakeTools(), Untouched("mail")).tools(SESSION)
    assert [tool["name"] for tool in listed] == ["get_item"]


def test_two_providers_of_one_connection_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="same connection"):
        gateway(FakeAudit(), FakeTools(), FakeTools())
