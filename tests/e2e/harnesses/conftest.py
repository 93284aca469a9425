"""The lodge: one installation with every harness, whose model fails as the table says."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.conftest import FILES
from tests.e2e.harnesses.hostile import HOSTILE
from tests.e2e.harnesses.rows import (
    CALL_TIMEOUT_S,
    CLAUDE_CODE,
    CODEX,
    NOWHERE,
    SILENCE_S,
    Begun,
    Program,
    Row,
    begin,
    scenario,
)
from tests.e2e.harnesses.toolyard import Yard, open_yard
from tests.e2e.house import SCRIPTED, House, Wanted, open_house

PRICED = (
    "nowhere-anthropic:claude-sonnet-5",
    "nowhere-openai:gpt-5.6-terra",
    "nowhere-google:gemini-3.1-pro-preview",
)
PRICE = """\
  "{model}":
    max_output_tokens: 128000
    context_tokens: 1000000
    rates:
      - {{input: 2, output: 10, cache_read: 0.2, cache_write: 2.5, cache_write_long: 4}}
"""


@pytest.fixture(scope="package")
def lodge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("lodge")
    script, prices = folder / "scenario.yaml", folder / "prices.yaml"
    script.write_text(scenario())
    prices.write_text("models:\n" + "".join(PRICE.format(model=model) for model in PRICED))
    wanted = Wanted(
        harnesses=(CLAUDE_CODE.name, CODEX.name),
        providers={
            "anthropic": SCRIPTED,
            "openai": SCRIPTED,
            "google": SCRIPTED,
            "nowhere-anthropic": f"anthropic+http://{NOWHERE}",
            "nowhere-openai": f"openai+http://{NOWHERE}",
            "nowhere-google": f"google+http://{NOWHERE}",
        },
        settings={
            "MODELS__PRICES": str(prices),
            "ENTRANCE__CALL_TIMEOUT_S": str(CALL_TIMEOUT_S),
            "MODELS__SILENCE_S": str(SILENCE_S),
            "RUNS__PARALLEL": "16",
        },
    )
    yield from open_house(folder / "home", {**FILES, **HOSTILE}, script, wanted)


@pytest.fixture(scope="package", autouse=True)
def early(lodge: House, request: pytest.FixtureRequest) -> Begun:
    """The tasks of the rows that take longest: at work while all other tests of this folder run."""
    cases = [case for case in wanted_in(request.session) if case[1].early]
    return begun_at(lodge, cases)


@pytest.fixture(scope="package")
def yard(lodge: House, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    """MCP servers for its agents."""
    with open_yard(lodge, tmp_path_factory.mktemp("yard")) as yard:
        yield yard


@pytest.fixture(scope="package")
def begun(lodge: House, early: Begun, request: pytest.FixtureRequest) -> Begun:
    """The tasks of all rows that are to be tried, by harness and row: at work side by side."""
    cases = [case for case in wanted_in(request.session) if not case[1].early]
    return {**early, **begun_at(lodge, cases)}


def wanted_in(session: pytest.Session) -> list[tuple[Program, Row]]:
    """The rows that are to be tried, each with its harness."""
    calls = [getattr(item, "callspec", None) for item in session.items]
    return [
        (call.params["program"], call.params["row"])
        for call in calls
        if call is not None and "row" in call.params
    ]


def begun_at(lodge: House, cases: list[tuple[Program, Row]]) -> Begun:
    with ThreadPoolExecutor(4) as several:
        tasks = several.map(lambda case: begin(lodge, *case), cases)
        return {
            (program.short, row.name): task
            for (program, row), task in zip(cases, tasks, strict=True)
        }
