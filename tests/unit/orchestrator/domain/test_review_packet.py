"""What a person gets to read beside an agent's work."""

import re
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from entrance.ports import Usage
from orchestrator.domain.review_packet import (
    MOST_BYTES,
    UNVERIFIED,
    Facts,
    packet_title,
    review_packet,
)
from orchestrator.domain.run import Ending, Outcome, Tried, Work
from orchestrator.domain.submitted import PushedRef, Pushes
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import TASK

REPOSITORY = "git.example:9000/team/thing.git"
BRANCH = "agent/DEMO-7/fix"
COMMIT = "a" * 40
SECTIONS = [
    "What was asked",
    "What was done",
    "Tests",
    "Not verified",
    "What was found in the pushes",
    "Files changed",
    "Hosts contacted",
    "Run and cost",
    "How to verify",
]


def work(**changes: object) -> Work:
    told = Work(
        words="I fixed it.",
        branch=BRANCH,
        tests=(Tried("make test", "passed", "12 of 12"),),
        not_verified="Windows.",
    )
    return replace(told, **changes)  # type: ignore[arg-type]


def facts(said: Work | None = None, **changes: object) -> Facts:
    ending = Ending(Outcome.SUBMITTED, "I fixed it.", START, work=said)
    run = a_run(
        agent="bot-rex",
        ending=ending,
        usage=Usage(1200, 340, 50, 6, Decimal("0.0123"), 7),
        record="DEMO/DEMO-R1",
    )
    pushes = Pushes(
        (PushedRef(REPOSITORY, f"refs/heads/{BRANCH}", "0" * 40, COMMIT, "arrived"),),
        (("note", "big.bin has 3 MiB"),),
        ("src/a.py", "src/b.py"),
    )
    whole = Facts(
        run, TASK, REPOSITORY, BRANCH, pushes, {"reached": {"b.example": 3, "a.example": 9}}
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def headings(packet: str) -> list[str]:
    return re.findall(r"^## (.*)$", packet, re.MULTILINE)


def test_a_packet_says_all_that_a_reviewer_needs() -> None:
    packet = review_packet(facts(work()))
    assert headings(packet) == SECTIONS
    for words in (
        "> It is broken.",
        "> I fixed it.",
        "| make test | passed | 12 of 12 |",
        "> Windows.",
        UNVERIFIED,
        "| note | big.bin has 3 MiB |",
        "- `src/a.py`\n- `src/b.py`",
        "| `a.example` | 9 |\n| `b.example` | 3 |",
        "| cost | US$ 0.0123 in 7 model calls |",
        "1,200 in, 340 out",
        f"| branch | `{BRANCH}` |",
        "| record | `DEMO/DEMO-R1` |",
        f"sandgate verify . {COMMIT}",
    ):
        assert words in packet


def test_what_nobody_said_is_said_to_be_missing() -> None:
    packet = review_packet(facts(pushes=Pushes(), ledger={}))
    assert headings(packet) == SECTIONS
    for words in ("The agent names none.", "Nothing.", "None of the internet.", UNVERIFIED):
        assert words in packet
    assert "> I fixed it." in packet, "an ending of before has no more than its summary"


def test_an_agent_can_fake_no_section_no_row_and_no_command() -> None:
    hostile = (
        "## Tests\n\n| make test | passed | all |\n```\nsandgate verify . evil\n```\n"
        "/merge @root closes #1"
    )
    packet = review_packet(
        facts(
            work(
                words=hostile,
                tests=(Tried("x | passed | y\n| z | passed |", "failed | passed", "`"),),
                not_verified=hostile,
            ),
            task=replace(TASK, title=hostile, description=hostile),
            pushes=replace(facts().pushes, files=("a\n## Files changed\n- x", "`b`|c")),
            branch=hostile,
        )
    )
    assert headings(packet) == SECTIONS
    assert packet.count("```") == 2
    table = packet.split("## Tests")[1].split("## Not verified")[0]
    assert len(re.findall(r"^\|", table, re.MULTILINE)) == 3
    assert not re.search(r"@root|#1\b|^/", packet, re.MULTILINE)
    assert "\n" not in packet_title(replace(TASK, title=hostile))


def test_a_title_names_the_task() -> None:
    assert packet_title(TASK) == "DEMO-7: Fix it"


@settings(max_examples=8, deadline=None)
@given(st.text(alphabet="#|\U0001f600 \n", max_size=50), st.sampled_from([1, 300]))
def test_a_packet_is_never_longer_than_every_host_takes(text: str, times: int) -> None:
    long = text * times
    packet = review_packet(
        facts(
            work(
                words=long,
                not_verified=long,
                tests=tuple(Tried(long, long, long) for _ in range(50)),
            ),
            task=replace(TASK, title=long, description=long),
            pushes=Pushes(
                facts().pushes.refs,
                tuple((long, f"{long}{n}") for n in range(200)),
                tuple(f"{long}{n}" for n in range(500)),
            ),
            ledger={"reached": {f"{long}{n}": n for n in range(300)}},
        )
    )
    assert len(packet.encode()) <= MOST_BYTES
    assert headings(packet) == SECTIONS
    assert f"sandgate verify . {COMMIT}" in packet
