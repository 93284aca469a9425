"""What a model is told of results that a client may trip over: by each real program."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.e2e.harnesses.oddities import GRANTS, SIGNS
from tests.e2e.harnesses.rows import (
    CLAUDE_CODE,
    CODEX,
    CODEX_WITH_TOOLS,
    NATIVE,
    Program,
    hire,
    how,
)
from tests.e2e.harnesses.toolyard import PROGRAMS, Yard
from tests.e2e.house import House
from tests.e2e.served import served_to

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

type Told = Mapping[str, Future[Mapping[str, str]]]

PICTURES: Mapping[str, str] = {
    CLAUDE_CODE.short: "[image]",
    CODEX.short: "",
    CODEX_WITH_TOOLS.short: "[input_image]",
    NATIVE[0].short: "[image, image/png, 68 bytes: ",
}
"""How each begins to tell of one. What a script of Codex is told of it is the script's business."""


@pytest.fixture(scope="module")
def told(lodge: House, yard: Yard) -> Iterator[Told]:
    """What each program's model was told, by the scenario's names; played side by side."""
    del yard
    with ThreadPoolExecutor(len(PROGRAMS)) as several:
        yield {one.short: several.submit(played, lodge, one) for one in PROGRAMS}


def played(lodge: House, program: Program) -> Mapping[str, str]:
    """Have a program play it."""
    agent = f"{program.short}-odd"
    hire(lodge, program, agent, tools=GRANTS)
    task = lodge.task("TRY ODD RESULTS", agent=agent, repository="")
    run = lodge.ended(task, 200)
    served = served_to(lodge.here, task.rpartition("/")[2])
    names = {name: text for one in served for name, text in one["names"].items()}
    assert how(run) == ("asked", "handed_over"), names
    return names


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.short)
def test_no_result_breaks_a_program_and_its_model_is_told_what_there_is(
    told: Told, program: Program
) -> None:
    names = told[program.short].result()
    assert names["structured_only"].replace(" ", "").find('{"answer":42}') >= 0
    assert names["picture"].startswith(PICTURES[program.short])
    assert names["failure"].endswith("It did not work.")
    assert "rror" not in names["nothing"]
    assert names["signs"] == SIGNS
    assert names["rules"].startswith("These tools are the only way"), "our words about them"
