"""An engine takes what another compiled, if that was the same patterns."""

from collections.abc import Callable

import pytest

from entrance.git.checks.scanners import engine as module
from entrance.git.checks.scanners.engine import Engine

TEXT = b'aws_key = "AKIA' + b'QYLPMN5HFIQR7XYA"\n'


@pytest.fixture(scope="module")
def made() -> Engine:
    return Engine()


def found_by(engine: Engine) -> set[str]:
    ends: list[tuple[int, int]] = []

    def on_match(look: int, _start: int, end: int, _flags: int, _: object) -> None:
        ends.append((look, end))

    stream = engine.open(on_match)
    stream.scan(TEXT)
    stream.close()
    return {hit.what for look, end in ends if (hit := engine.read(look, TEXT[:end]))}


def refuse(_: object) -> None:
    raise AssertionError("it was compiled anew")


def test_what_is_compiled_already_is_not_compiled_again(
    made: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_compiled", refuse)
    assert found_by(Engine(made.compiled)) == found_by(made) != set()


@pytest.mark.parametrize("changed", [lambda _: b"", lambda one: one[::-1], lambda one: one[1:]])
def test_what_was_compiled_of_other_patterns_is_not_taken(
    made: Engine, changed: Callable[[bytes], bytes]
) -> None:
    assert found_by(Engine(changed(made.compiled))) == found_by(made)
