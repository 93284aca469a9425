"""The gateway over fakes: what is asked, what is told, what is on record."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from entrance.decision import Decision, Deny
from entrance.errors import Malformed, SandgateError, Unavailable
from entrance.mcp.catalogue import catalogue
from entrance.mcp.connection import Caller, Local
from entrance.mcp.exchange import Exchange
from entrance.mcp.gateway import Gateway, Limits
from entrance.mcp.judging import Judge
from entrance.mcp.messages import Failure, Json
from entrance.mcp.policy import granted
from entrance.mcp.results import text_result
from entrance.mcp.spilling import Spilling
from entrance.ports import HeldCall, Tool, ToolResult
from entrance.session import RunId, Session, TaskId
from entrance.tool_policy import Ask, ConnectionRules, Facts, Mode, ToolRule
from tests.fakes.audit import FakeAudit
from tests.fakes.tools import GET_ITEM, FakeTools

SESSION = Session(
    RunId("r"),
    TaskId("P/T"),
    "P",
    "bot",
    "10.0.0.2",
    "h",
    tools={"tracker": frozenset({"get_item"})},
)
BOTH = replace(SESSION, tools={"tracker": frozenset({"get_item"}), "wiki": frozenset({"get_item"})})
KEY = {"key": "T-1"}
OPEN = Tool("get_item", "Read.", {"type": "object"})


def gateway(audit: FakeAudit, *tools: FakeTools, limits: Limits | None = None) -> Gateway:
    ticks = itertools.count()
    connections = {each.connection: Local(each) for each in tools}
    return Gateway(connections, audit, lambda: float(next(ticks)), limits)


async def no_asking(_: str, __: Ask | None, ___: Json) -> Decision:
    return Deny("nobody asks here")


CALLER = Caller(SESSION, Exchange("handshake"), no_asking)


async def call(
    gateway: Gateway, name: str, arguments: Json, session: Session = SESSION
) -> tuple[str, bool]:
    """The text of the result, and whether it is an error."""
    caller = replace(CALLER, session=session)
    result = await gateway.call(caller, {"name": name, "arguments": arguments})
    assert not isinstance(result, Failure)
    return result["content"][0]["text"], result["isError"]


async def test_a_call_that_can_not_be_recorded_is_not_made() -> None:
    audit, tools = FakeAudit(), FakeTools()
    audit.down = True
    with pytest.raises(Unavailable):
        await call(gateway(audit, tools), "get_item", KEY)
    assert not tools.calls


async def test_the_record_has_the_arguments_without_secrets_and_what_came_of_it() -> None:
    audit = FakeAudit()
    arguments = {"key": "sk-" + "x" * 40, "password": "private words"}
    await call(gateway(audit, FakeTools(offers=[OPEN])), "get_item", arguments)
    assert "private words" not in repr(audit.records)
    assert "sk-x" not in repr(audit.records)
    [decided] = audit.decisions("tool_call")
    assert "[redacted]" in decided.detail["arguments"]
    assert decided.rule == "write"
    outcome = audit.outcome_of(decided)
    assert outcome is not None
    assert (outcome.result, outcome.detail["ms"]) == ("ok", 1000)


async def test_a_tool_that_hangs_is_given_up_with_a_word_about_what_is_not_known() -> None:
    """CASE-72: no blocking past the client's own limit."""
    audit, tools = FakeAudit(), FakeTools(hangs=True)
    limits = Limits(call_timeout_s=0.02)
    text, is_error = await call(gateway(audit, tools, limits=limits), "get_item", KEY)
    assert is_error
    assert "not known" in text
    [decided] = audit.decisions("tool_call")
    outcome = audit.outcome_of(decided)
    assert outcome is not None
    assert outcome.result == "timeout"


async def test_a_tool_that_fails_tells_the_agent_why() -> None:
    class Broken(FakeTools):
        async def call(self, *args: object) -> ToolResult:
            raise Malformed("the tracker answered rubbish")

    text, is_error = await call(gateway(FakeAudit(), Broken()), "get_item", KEY)
    assert is_error
    assert "rubbish" in text


async def test_one_connection_that_is_down_hides_only_its_own_tools() -> None:
    audit, up, down = FakeAudit(), FakeTools(), FakeTools("wiki", down=True)
    both = gateway(audit, up, down)
    caller = replace(CALLER, session=BOTH)
    assert [tool["name"] for tool in await both.tools(caller)] == ["tracker_get_item"]
    text, _ = await call(both, "wiki_get_item", KEY, BOTH)
    assert "wiki can't be reached" in text


async def test_a_name_that_there_is_not_is_told_with_those_that_there_are() -> None:
    both = gateway(FakeAudit(), FakeTools(), FakeTools("wiki"))
    text, is_error = await call(both, "get_item", KEY, BOTH)
    assert is_error
    assert "no tool get_item; the tools of this run are: tracker_get_item, wiki_get_item" in text


LONG = Tool("get_item", "Read.", {"type": "object"})


class Files:
    """`entrance.ports.ResultFiles`: what was written. `wrong`: it can't be; `hangs`: it takes for ever."""

    def __init__(self, wrong: SandgateError | None = None, *, hangs: bool = False) -> None:
        self.written: dict[str, bytes] = {}
        self.wrong, self.hangs = wrong, hangs

    async def keep(self, session: Session, name: str, content: bytes) -> str:
        if self.hangs:
            await asyncio.Event().wait()
        if self.wrong:
            raise self.wrong
        self.written[name] = content
        return f"/workspace/{name}"


async def told_long(files: Files | None, text: str = "x" * 500) -> str:
    """What is told of a result that is longer than a hundred characters."""
    tools = FakeTools(offers=[LONG], answer=ToolResult(text))
    limits = Limits(result_chars=100)
    door = Gateway({"tracker": Local(tools)}, FakeAudit(), lambda: 0.0, limits, files=files)
    told, _ = await call(door, "get_item", {})
    return told


async def test_a_result_that_is_too_long_is_in_a_file_that_is_named_by_its_number_in_the_log() -> (
    None
):
    """CASE-69."""
    files = Files()
    told = await told_long(files)
    assert files.written == {"1-1.txt": b"x" * 500}
    assert told.endswith("[this is the beginning of 500 characters; all of it: /workspace/1-1.txt]")
    assert len(told) < 120


async def test_a_result_that_can_not_be_written_is_cut_and_that_is_said() -> None:
    """CASE-69."""
    told = await told_long(Files(Unavailable("the disk is full")))
    assert told.startswith("x" * 100 + "\n[cut here by Sandgate: 100 of 500 characters")
    assert "it could not be written to a file: the disk is full" in told
    assert "could not" not in await told_long(None)


async def test_a_sandbox_that_does_not_answer_holds_up_no_result() -> None:
    files = Files(hangs=True)
    spilling = Spilling(files, 100, timeout_s=0.01)
    told = await spilling.told(SESSION, 1, text_result("x" * 500))
    assert "it took too long" in told["content"][0]["text"]


async def test_of_a_file_that_is_too_large_there_is_the_beginning() -> None:
    files = Files()
    told = await Spilling(files, 100, file_bytes=300).told(SESSION, 7, text_result("x" * 500))
    assert files.written == {"7-1.txt": b"x" * 300}
    assert "its first 300 bytes are in /workspace/7-1.txt" in told["content"][0]["text"]


async def test_when_no_connection_can_be_reached_listing_says_so() -> None:
    with pytest.raises(Unavailable, match="tracker"):
        await gateway(FakeAudit(), FakeTools(down=True)).tools(CALLER)


async def test_connections_without_a_grant_are_not_even_asked() -> None:
    class Untouched(FakeTools):
        async def tools(self, session: Session) -> list[object]:  # type: ignore[override]
            raise AssertionError("asked")

    listed = await gateway(FakeAudit(), FakeTools(), Untouched("mail")).tools(CALLER)
    assert [tool["name"] for tool in listed] == ["get_item"]


class Inbox:
    """`entrance.ports.CallInbox`: what was asked."""

    def __init__(self) -> None:
        self.asked: list[HeldCall] = []

    async def ask(self, call: HeldCall) -> str:
        self.asked.append(call)
        return "Held for approval, H-17"


HELD = replace(
    SESSION, tool_rules={"tracker": ConnectionRules({"get_item": ToolRule(Mode.APPROVAL)})}
)


async def test_a_held_call_is_recorded_asked_about_and_told_at_once_and_not_made() -> None:
    audit, tools, inbox = FakeAudit(), FakeTools(), Inbox()
    connections = {"tracker": Local(tools)}
    judged = Gateway(connections, audit, lambda: 0.0, judge=Judge(inbox=inbox))
    params = {"name": "get_item", "arguments": KEY}
    told = await judged.call(replace(CALLER, session=HELD), params, "call-7")
    assert told == text_result("Held for approval, H-17")
    assert not tools.calls
    [decided] = audit.decisions("tool_call")
    assert (decided.decision.word, decided.rule) == ("hold", "needs_approval")
    [asked] = inbox.asked
    assert (asked.tool, asked.arguments, asked.call) == ("get_item", KEY, "call-7")
    assert asked.sha256 == decided.detail["arguments_sha256"]
    assert asked.decision == audit.records.index(decided) + 1


async def test_where_nobody_can_be_asked_what_would_be_held_is_refused() -> None:
    tools = FakeTools()
    text, is_error = await call(gateway(FakeAudit(), tools), "get_item", KEY, HELD)
    assert is_error
    assert "nobody can be asked" in text
    assert not tools.calls


async def test_nobody_is_asked_about_arguments_that_are_wrong() -> None:
    inbox = Inbox()
    connections = {"tracker": Local(FakeTools())}
    judged = Gateway(connections, FakeAudit(), lambda: 0.0, judge=Judge(inbox=inbox))
    text, is_error = await call(judged, "get_item", {"kee": 1}, HELD)
    assert is_error
    assert "arguments are wrong" in text
    assert not inbox.asked


async def test_what_the_provider_knows_of_a_call_is_heeded_and_its_outage_refuses() -> None:
    class Knowing(FakeTools):
        async def facts(self, session: Session, tool: str, arguments: object) -> Facts:
            self._reach()
            return Facts(of_people=("T-1",))

    tools, inbox = Knowing(), Inbox()
    judge = Judge(inbox=inbox)
    local = Local(tools)
    listed = await local.listed(CALLER, "tools")
    entry = catalogue({"tracker": listed}, granted(SESSION))["get_item"]
    ruled = await judge.ruled(SESSION, local.facts, entry, KEY)
    assert ruled.rule == "of_people"
    tools.down = True
    assert (await judge.ruled(SESSION, local.facts, entry, KEY)).rule == "facts_missing"


async def test_what_is_made_of_lists_is_made_once_for_all_runs_with_the_same_connections() -> None:
    house = gateway(FakeAudit(), FakeTools(), FakeTools("wiki"))
    wiki = {"wiki": frozenset({"get_item"})}
    callers = [replace(CALLER, session=replace(BOTH, run=RunId(run))) for run in "ab"]
    callers += [replace(CALLER, session=replace(SESSION, tools=wiki))]
    first, second, third, again = [
        (await house.offering.tools(caller))[0] for caller in (*callers, callers[0])
    ]
    assert first is second
    assert first is again
    assert sorted(third) == ["delete_item", "get_item"]


async def test_three_hundred_tools_are_listed_for_a_harness_whatever_one_of_them_is_like() -> None:
    many = [Tool(f"t{n}", "Do.", {"type": "object", "anyOf": [{"$ref": "#"}]}) for n in range(299)]
    bad = Tool("bad", "Odd.", {"type": "object", "properties": {"a": {"type": "no such"}}})
    names = frozenset(tool.name for tool in (*many, bad))
    session = replace(SESSION, tools={"tracker": names}, harness="codex")
    offered = gateway(FakeAudit(), FakeTools(offers=[*many, bad]))
    listed = await offered.tools(replace(CALLER, session=session))
    assert {tool["name"] for tool in listed} == names
    assert {"anyOf", "$ref"}.isdisjoint(word for tool in listed for word in tool["inputSchema"])


async def test_one_schema_that_no_provider_takes_does_not_hide_the_other_tools() -> None:
    bad = Tool("bad", "Odd.", {"type": "object", "properties": {"a": {"type": "no such"}}})
    session = replace(SESSION, tools={"tracker": frozenset({"get_item", "bad"})})
    caller = replace(CALLER, session=session)
    offered = gateway(FakeAudit(), FakeTools(offers=[GET_ITEM, bad]))
    listed = {tool["name"]: tool for tool in await offered.tools(caller)}
    assert listed["get_item"]["inputSchema"]["required"] == ["key"]
    assert listed["bad"]["inputSchema"] == {"type": "object", "additionalProperties": True}
    assert "left out: it is no JSON Schema" in listed["bad"]["description"]
