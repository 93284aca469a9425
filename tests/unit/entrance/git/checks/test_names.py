"""Names of paths that are traps are told from names that are only awkward, and from all others."""

import pytest

from entrance.git.checks.judging import judge
from tests.unit.entrance.git.checks.pushes import SESSION, a_change, a_push


def rules(*paths: str | bytes, gone: bool = False) -> set[str]:
    changes = (a_change(path, new_mode=0) if gone else a_change(path) for path in paths)
    return {finding.rule for finding in judge(a_push(*changes), SESSION).findings}


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "a/.GIT/b",
        "a/.Git./b",
        ".git /x",
        ".git::$INDEX_ALLOCATION/x",
        "git~1/x",
        "GIT~2",
        ".g\u200cit/x",
        ".gi\u200bt",
        ".\u0131git".replace("\u0131", "\u200d"),
        "a\\b",
        "..\\..\\x",
        "a\nb",
        "a\x1b[31mb",
        "a\x7f",
        "a\u202eb",
        "a\u2066b",
        "a\u00adb",
        "a/../b",
        "./a",
        "a//b",
    ],
)
def test_a_trap_is_refused(path: str) -> None:
    assert "path-name" in rules(path)


@pytest.mark.parametrize(
    "path",
    [
        b"\xff\xfe",
        "aux",
        "src/AUX.c",
        "con.txt/x",
        "com1",
        "lpt9.log",
        "COM\u00b9",
        "a:b",
        "what?",
        "a|b",
        'a"b',
        "trailing.",
        "trailing ",
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f468\u200d\U0001f4bb.md",
        "x" * 256,
        "/".join(["y" * 100] * 41),
    ],
)
def test_what_not_every_machine_can_have_is_held(path: str | bytes) -> None:
    found = rules(path)
    assert "awkward-path" in found
    assert "path-name" not in found


@pytest.mark.parametrize(
    "path",
    [
        "src/main.py",
        ".gitignore",
        ".gitkeep",
        "git",
        "a b/c d.txt",
        "Gr\u00fc\u00dfe/\u65e5\u672c\u8a9e.md",
        "auxiliary.c",
        "console/x",
        "com10",
        "-option",
        "a'b",
        "[slug].tsx",
        "x" * 255,
        "\U0001f600.md",
    ],
)
def test_an_ordinary_name_is_nothing(path: str) -> None:
    assert not rules(path)


def test_whoever_takes_a_bad_name_out_is_not_kept_from_it() -> None:
    assert not rules("a\\b", "aux", gone=True)


def test_one_name_in_two_spellings_is_held_also_as_a_folder() -> None:
    assert "one-name-twice" in rules("A/x", "a/y")
    assert "one-name-twice" in rules("caf\u00e9", "cafe\u0301")
    assert not rules("A/x", "A/y", "b/a")
