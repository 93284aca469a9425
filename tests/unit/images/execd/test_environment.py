"""A command inherits what `set_env` has stored, exactly as it was set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opensandbox.adapters.converter.env_entry import build_set_env_command

from execd.environment import expand_folder, parse_env_file
from execd.errors import Refused

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=plain", "plain"),
        ("A='single $X'", "single $X"),
        (r'A="tab\t, quote\", newline\n, back\\"', 'tab\t, quote", newline\n, back\\'),
        ("export A=1", "1"),
        ("A=", ""),
        ("A=x=y", "x=y"),
        ("A='", "'"),
    ],
)
def test_the_forms_of_a_line(line: str, value: str) -> None:
    assert parse_env_file(f"# comment\n{line}\n") == {"A": value}


def test_later_lines_win_and_odd_ones_are_skipped() -> None:
    assert parse_env_file("A=1\n1B=2\nnothing\nA=3\n-x=1") == {"A": "3"}


@given(NAMES, st.text(alphabet=st.characters(codec="ascii", exclude_characters="\0"), max_size=30))
def test_what_the_sdk_writes_is_read_back(name: str, value: str) -> None:
    if "'" not in value and set(value) & set("\n\r\x0b\x0c\x1c\x1d\x1e\x85"):
        return  # its single-quoted form spans lines: not a form this file can hold
    if set(value) & set("\x0b\x0c\x1c\x1d\x1e"):
        return
    command = build_set_env_command(name, value)
    quoted = command.splitlines()[-1].removeprefix("printf '%s\\n' ")
    word = quoted[: quoted.rindex(" >> ")]
    line = word[1:-1].replace("'\\''", "'")
    assert parse_env_file(line) == {name: value}


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("~", "/h"),
        ("~/x", "/h/x"),
        ("$A/b", "/a/b"),
        ("${A}b", "/ab"),
        ("/p/$A", "/p//a"),
        ("x", "x"),
    ],
)
def test_a_folder_is_expanded(cwd: str, folder: str) -> None:
    assert expand_folder(cwd, {"A": "/a"}, "/h") == folder


def test_a_folder_with_an_unknown_variable_is_refused() -> None:
    with pytest.raises(Refused, match="NOPE"):
        expand_folder("$NOPE/x", {}, "/h")
