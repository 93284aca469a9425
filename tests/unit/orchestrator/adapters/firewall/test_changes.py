"""Which of the kernel's messages tell of a change of our table."""

import struct

import pytest

from orchestrator.adapters.firewall.changes import concerns

NEWTABLE, DELTABLE, NEWRULE, DELRULE, NEWELEM, DELELEM, NEWGEN = 0, 2, 6, 8, 12, 14, 15


def attribute(kind: int, value: bytes) -> bytes:
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + b"\0" * (-length % 4)


def message(kind: int, *names: str, subsystem: int = 10) -> bytes:
    """As the kernel sends it; the n-th name is its attribute n."""
    attributes = b"".join(
        attribute(number, name.encode() + b"\0") for number, name in enumerate(names, start=1)
    )
    length = 20 + len(attributes)
    header = struct.pack("=IHHII", length, subsystem << 8 | kind, 0, 1, 0)
    return header + b"\1\0\0\0" + attributes + b"\0" * (-length % 4)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(message(DELTABLE, "sgabc"), id="deleted"),
        pytest.param(message(DELRULE, "sgabc", "input"), id="a rule less"),
        pytest.param(message(NEWELEM, "sgabc", "doors"), id="a door more"),
        pytest.param(message(NEWGEN) + message(NEWRULE, "sgabc", "x"), id="in the second message"),
        pytest.param(b"", id="more than the kernel could tell"),
        pytest.param(b"\1\0\0\0\2", id="no whole message"),
        pytest.param(struct.pack("=IHHII", 4, 0, 0, 0, 0), id="a message of no length"),
        pytest.param(message(NEWTABLE)[:20] + b"\1\0\1\0", id="an attribute of no length"),
    ],
)
def test_a_change_of_the_table_is_heard(told: bytes) -> None:
    assert concerns(told, "sgabc")


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(message(DELTABLE, "sgabcd"), id="another one's"),
        pytest.param(message(NEWELEM, "sgabc", "bind"), id="an address let in"),
        pytest.param(message(DELELEM, "sgabc", "bind"), id="an address taken out"),
        pytest.param(message(NEWGEN), id="of no table"),
        pytest.param(message(DELTABLE, "sgabc", subsystem=1), id="of another subsystem"),
    ],
)
def test_what_is_no_change_of_its_walls_is_not(told: bytes) -> None:
    assert not concerns(told, "sgabc")
