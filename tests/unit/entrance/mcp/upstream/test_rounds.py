"""Requests whose server asks instead of answering."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from entrance.decision import Allow, Decision, Deny
from entrance.errors import Malformed
from entrance.mcp.connection import Caller
from entrance.mcp.messages import Era, Failure, Json
from entrance.mcp.upstream.rounds import MOST, in_rounds
from entrance.session import RunId, Session, TaskId
from entrance.tool_policy import Ask

SESSION = Session(RunId("run-1"), TaskId("P/T-1"), "P", "bot", "127.0.0.1", "")
DONE = {"resultType": "complete", "content": []}


def asks(*methods: str, **more: Any) -> Json:
    questions = {f"q{n}": {"method": one, "params": {"n": n}} for n, one in enumerate(methods)}
    return {"resultType": "input_required", "inputRequests": questions, **more}


ELICITS, SAMPLES, BOTH = (
    asks("elicitation/create", requestState="s"),
    asks("sampling/createMessage"),
    asks("elicitation/create", "roots/list"),
)


@dataclass
class Client:
    """Implements `connection.Back`: it answers everything with its number."""

    era: Era
    asked: list[str] = field(default_factory=list)
    answer: Json | Failure | None = None

    async def tell(self, method: str, params: Json) -> None:
        raise AssertionError(method)

    async def ask(self, method: str, params: Json) -> Json | Failure:
        self.asked.append(method)
        return self.answer or {"n": params["n"]}


@dataclass
class Server:
    """Answers one thing after the other; the last again and again."""

    says: Sequence[Json | Failure]
    sent: list[Json] = field(default_factory=list)

    async def send(self, further: dict[str, Any]) -> Json | Failure:
        self.sent.append(further)
        return self.says[min(len(self.sent), len(self.says)) - 1]


async def done(
    server: Server, client: Client, granted: Sequence[Ask] = (), method: str = "tools/call"
) -> Json | Failure:
    async def may_ask(_: str, ask: Ask | None, __: Json) -> Decision:
        return Allow() if ask in granted else Deny(f"{ask} was not granted")

    return await in_rounds(Caller(SESSION, client, may_ask), "new", method, server.send)


@pytest.mark.parametrize("said", [DONE, {"content": []}, Failure(-1, "no")])
async def test_what_asks_for_nothing_is_the_answer(said: Json | Failure) -> None:
    server = Server([said])
    assert await done(server, Client("handshake")) is said
    assert server.sent == [{}]


async def test_a_client_of_the_handshake_era_is_asked_and_the_request_sent_again() -> None:
    server, client = Server([ELICITS, BOTH, DONE]), Client("handshake")
    assert await done(server, client, ["elicitation", "roots"]) == DONE
    assert client.asked == ["elicitation/create", "elicitation/create", "roots/list"]
    assert server.sent == [
        {},
        {"inputResponses": {"q0": {"n": 0}}, "requestState": "s"},
        {"inputResponses": {"q0": {"n": 0}, "q1": {"n": 1}}},
    ]


async def test_a_client_of_the_modern_era_gets_the_questions_that_are_granted() -> None:
    server, client = Server([BOTH]), Client("modern")
    assert await done(server, client, ["elicitation", "roots"]) is BOTH
    assert (server.sent, client.asked) == ([{}], [])


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_what_is_not_granted_is_declined(era: Era) -> None:
    server, client = Server([ELICITS, DONE]), Client(era)
    assert await done(server, client, ["sampling"]) == DONE
    assert server.sent[1]["inputResponses"] == {"q0": {"action": "decline"}}
    assert not client.asked


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("said", [SAMPLES, BOTH])
async def test_a_request_ends_where_there_is_no_word_for_no(era: Era, said: Json) -> None:
    server = Server([said, DONE])
    result = await done(server, Client(era), ["elicitation"])
    assert not isinstance(result, Failure)
    assert result["isError"]
    assert "was not granted" in result["content"][0]["text"]
    assert server.sent == [{}]


async def test_what_is_no_call_ends_as_an_error() -> None:
    result = await done(Server([SAMPLES]), Client("modern"), method="prompts/get")
    assert isinstance(result, Failure)
    assert "was not granted" in result.message


async def test_a_client_that_can_not_be_asked_ends_the_request() -> None:
    client = Client("handshake", answer=Failure(-32601, "The client can't be asked"))
    server = Server([ELICITS, DONE])
    result = await done(server, client, ["elicitation"])
    assert "The client can't be asked" in str(result)
    assert server.sent == [{}]


async def test_a_server_that_only_wants_to_be_asked_again_is() -> None:
    server = Server([{"resultType": "input_required", "requestState": "later"}, DONE])
    assert await done(server, Client("handshake")) == DONE
    assert server.sent == [{}, {"requestState": "later"}]


async def test_a_server_that_never_stops_asking_is_not_asked_for_ever() -> None:
    server = Server([ELICITS])
    assert "times" in str(await done(server, Client("handshake"), ["elicitation"]))
    assert len(server.sent) == MOST + 1


@pytest.mark.parametrize("questions", ["words", {"q": "words"}, {"q": {}}, {"q": {"method": 7}}])
async def test_questions_that_are_none_are_not_guessed_at(questions: object) -> None:
    server = Server([{"resultType": "input_required", "inputRequests": questions}])
    with pytest.raises(Malformed):
        await done(server, Client("handshake"), ["elicitation"])
