import json
from typing import Any

import pytest
from native.conversation import Call, Message, Prompt, Reply, Result, Results, as_json, from_json

MESSAGES: list[Message] = [
    Prompt("Fix it."),
    Prompt("Go on.", "loop"),
    Reply("", (Call("c1", "bash", {"command": "ls"}), Call("c2", "bash", "{broken"))),
    Reply("Well.", (), "openai:m", ({"type": "reasoning", "encrypted_content": "x"},)),
    Results((Result("c1", "bash", "a\u2028b"), Result("c2", "bash", "no", is_error=True))),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_survives_being_written_and_read(message: Message) -> None:
    assert from_json(json.loads(json.dumps(as_json(message)))) == message


@pytest.mark.parametrize(
    "value",
    [None, [], {}, {"prompt": {}}, {"other": {}}, {"prompt": {"text": "a"}, "reply": {}},
     {"reply": {"text": "", "calls": [{"id": "1"}], "items": []}}, {"results": {"results": 3}}],
)  # fmt: skip
def test_what_is_no_message_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - its words are for nobody
        from_json(value)


def test_only_the_author_gets_a_reply_back_as_it_came() -> None:
    reply = Reply("a", (), "openai:m", ({"sealed": "x"},))
    assert reply.items_for("openai:m") == ({"sealed": "x"},)
    assert reply.items_for("openai:n") is None
