"""Every way a model can fail, through the real programs in real sandboxes: the whole table.

The native loop plays all of it over Google's protocol, which no other harness speaks; over the others
what each says in its own way. `tests/component/native` has a provider's faults in all three.
"""

import pytest

from tests.e2e.harnesses.rows import (
    CLAUDE_CODE,
    CODEX,
    NATIVE,
    PATIENCE_S,
    ROWS,
    Begun,
    Program,
    Row,
)
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

SAID_IN_ITS_OWN_WAY = frozenset(
    {"403", "429 for an hour", "cut once", "overflow", "budget spent in mid-answer"}
)
WHOLE = {CLAUDE_CODE, CODEX, NATIVE[0]}
TRIED = [
    pytest.param(program, row, id=f"{program.short}, {row.name}")
    for program in (CLAUDE_CODE, CODEX, *NATIVE)
    for row in ROWS
    if row.only in {"", program.name} and (program in WHOLE or row.name in SAID_IN_ITS_OWN_WAY)
]


@pytest.mark.parametrize(("program", "row"), TRIED)
def test_a_run_ends_as_its_row_says(lodge: House, begun: Begun, program: Program, row: Row) -> None:
    row.assert_ended(lodge.ended(begun[program.short, row.name], PATIENCE_S))
