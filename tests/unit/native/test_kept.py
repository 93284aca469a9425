"""A conversation outlives the loop, whenever and however that dies."""

import json
from pathlib import Path

import pytest
from native.conversation import Call, Message, Prompt, Reply, Result, Results
from native.kept import Kept, NotKept, begun, resumed

CALLED = Reply("", (Call("c1", "bash", {}), Call("c2", "bash", {})))
TALK: list[Message] = [
    Prompt("Fix it."),
    CALLED,
    Results((Result("c1", "bash", "a\n\u2028"), Result("c2", "bash", "b"))),
    Reply("Done.", (), "openai:m", ({"sealed": "\u00e9"},)),
]


def kept(folder: Path, *messages: Message) -> Kept:
    conversation = begun(folder)
    for message in messages:
        conversation.add(message)
    return conversation


def file_of(folder: Path) -> Path:
    (path,) = folder.glob("*")
    return path


def test_a_conversation_is_gone_on_with_from_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"
    first = kept(folder, *TALK)
    second = resumed(folder, first.id)
    assert second.messages == TALK
    second.add(Prompt("Again."))
    assert resumed(folder, first.id).messages == [*TALK, Prompt("Again.")]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_each_message_is_in_the_file_at_once_a_line_each(tmp_path: Path) -> None:
    conversation = begun(tmp_path)
    for number, message in enumerate(TALK):
        conversation.add(message)
        assert file_of(tmp_path).read_bytes().count(b"\n") == number + 2
        assert resumed(tmp_path, conversation.id).messages[: number + 1] == TALK[: number + 1]


@pytest.mark.parametrize("cut", [1, 2, 10, 40])
def test_half_a_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    conversation = kept(tmp_path, *TALK)
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    again = resumed(tmp_path, conversation.id)
    assert again.messages == TALK[:-1]
    again.add(Prompt("Again."))
    assert resumed(tmp_path, conversation.id).messages == [*TALK[:-1], Prompt("Again.")]


def test_a_call_without_its_result_gets_one(tmp_path: Path) -> None:
    conversation = kept(tmp_path, *TALK[:2])
    *_, last = resumed(tmp_path, conversation.id).messages
    assert isinstance(last, Results)
    assert [(result.call, result.is_error) for result in last.results] == [
        ("c1", True),
        ("c2", True),
    ]
    assert "may have happened" in last.results[0].text


def test_what_takes_the_place_of_all_is_in_the_file(tmp_path: Path) -> None:
    conversation = kept(tmp_path, *TALK)
    conversation.become(TALK[:1])
    conversation.add(Prompt("Again."))
    assert resumed(tmp_path, conversation.id).messages == [TALK[0], Prompt("Again.")]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_could_not_be_written_is_made_good(tmp_path: Path) -> None:
    folder = tmp_path / "conversations"
    folder.write_text("in the way")
    conversation = kept(folder, *TALK[:2])
    assert conversation.messages == TALK[:2]
    folder.unlink()
    conversation.add(TALK[2])
    assert resumed(folder, conversation.id).messages == TALK[:3]


def test_a_line_that_is_no_message_ends_what_is_read(tmp_path: Path) -> None:
    conversation = kept(tmp_path, *TALK)
    path = file_of(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"other": {}}\n', *lines[2:]]))
    assert resumed(tmp_path, conversation.id).messages == TALK[:1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "there is no conversation missing"),
        ("../escape", "is not the id"),
        ("", "is not the id"),
        ("x" * 65, "is not the id"),
        ("empty", "can't be read"),
        ("newer", "is of format 2, not 1"),
        ("list", "can't be read"),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "list.jsonl").write_text("[]\n")
    (tmp_path / "newer.jsonl").write_text(json.dumps({"format": 2}) + "\n")
    with pytest.raises(NotKept, match=said):
        resumed(tmp_path, name)
