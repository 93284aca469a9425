"""`sandgate models`: what models cost, whether they can be called here, and who may call them."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.screen import print_json, print_table, say

console = Console()

COLUMNS = ("model", "input", "cached", "output", "dialect", "here", "granted to")
HERE: Mapping[str, str] = {"": "yes", "address": "no address", "key": "no key"}
NO_PRICE = "no price"


def models(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Only models with this in their name.")
    ] = "",
    granted: Annotated[
        bool, typer.Option("--granted", help="Only models that an engagement grants.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """List the known models: US dollars per million tokens, whether they can be called, who may."""
    with runner() as api:
        known: list[dict[str, Any]] = api.get("/api/models")
    found = [one for one in known if text in one["model"] and (one["granted"] or not granted)]
    if json:
        print_json(found)
        return
    print_table(console, COLUMNS, [row for one in found for row in _rows(one)], spare=("dialect",))
    for sentence in _notes(found):
        say(console, sentence)


def _rows(model: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    """A model's rows: its base price first, then what longer prompts cost."""
    names = ", ".join(f"{one['agent']} ({one['project']})" for one in model["granted"])
    rest = (model["dialect"], HERE.get(model["missing"], model["missing"]), names)
    if not model["rates"]:
        yield (model["model"], NO_PRICE, "", "", *rest)
    for rates in model["rates"]:
        above = rates["above_prompt_tokens"]
        costs = (rates["input"], rates["cache_read"], rates["output"])
        if above:
            yield (f"  prompts above {above:,}", *costs, "", "", "")
        else:
            yield (model["model"], *costs, *rest)


def _notes(found: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    blocked = [one["model"] for one in found if one["granted"] and not one["callable"]]
    if blocked:
        yield (
            f"granted, but not called here yet: {', '.join(blocked)}"
            " (docs/how-to/connect-a-model-provider.md)"
        )
