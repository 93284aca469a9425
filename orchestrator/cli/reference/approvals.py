"""`docs/reference/approvals.md`, from the tables of `domain.kinds` and beside it [pure]."""

from collections.abc import Iterator

from orchestrator.cli.reference.markdown import code, page, states, table
from orchestrator.domain.approval import OPEN, STATES, ApprovalState
from orchestrator.domain.item_transitions import After
from orchestrator.domain.kinds import KINDS, Kind
from orchestrator.domain.pushes import STATES as PUSH_STATES

INTRO = """\
What an agent may not do by itself is asked of people: an item of the inbox.
Each item is of a kind, which says what may be decided about it and what follows; see
[how to decide](../how-to/supervise-agents.md)."""
OF_STATES = """\
An item is in one of these. `waiting` is where each begins."""
OF_WORDS = """\
Whoever asks for the same again in the same run gets the item that there is, and is told:"""
OF_RELEASES = """\
What a person allows is the bytes that are kept, by their SHA-256. They are sent once:

1. The engagement, the agent, the repository's grant and the rules for branches are looked at again, and
   the bytes on the disk.
2. The host is asked where the branches are. Where the push leaves them: it has arrived. Where it did not
   find them: a conflict.
3. The decision is written to the egress log, and the item is claimed; only then the bytes are sent.
4. What the host says is written to the log and the item. The push is attested, it is said on the task,
   and the bytes are dropped.

A runner that dies in between goes on there.
What was claimed may have been sent: the host is asked, and nothing is sent again before it says that
nothing has arrived, half a minute later.
What was allowed and could not be sent within a day is not sent any more."""
OF_PUSHES = """\
`sandgate push ls` tells of each push where it is:"""


def approvals() -> str:
    """The page."""
    return page(
        "Approvals",
        INTRO,
        "## States",
        OF_STATES,
        table(("state", "meaning"), ((code(state), words) for state, words in STATES.items())),
        *(part for kind in KINDS.values() for part in _kind(kind)),
        "## How a held push is sent",
        OF_RELEASES,
        "## States of a push",
        OF_PUSHES,
        table(("state", "meaning"), ((code(one), words) for one, words in PUSH_STATES.items())),
    )


def _kind(kind: Kind) -> Iterator[str]:
    yield f"## {code(kind.name)}: {kind.what}"
    yield f"About {kind.what}: {kind.offers}."
    yield states(_edges(kind.after))
    yield OF_WORDS
    yield table(
        ("state", "the agent is told"),
        (
            (code(state), kind.answers[state].replace("{item}", "ID"))
            for state in ApprovalState
            if state in kind.answers
        ),
    )


def _edges(after: After) -> Iterator[tuple[str, str, str]]:
    yield "[*]", str(ApprovalState.WAITING), ""
    for (source, verb), target in after.items():
        yield str(source), str(target), str(verb)
    ends = set(after.values()) - {source for source, _ in after} - OPEN
    for state in ApprovalState:
        if state in ends:
            yield str(state), "[*]", ""
