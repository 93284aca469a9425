"""`sandgate policy`: what runs may reach of the internet, and what their pushes may bring."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from orchestrator.adapters.egress_files import read_registries, registries_file
from orchestrator.cli.client import segment
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import read_text
from orchestrator.cli.place import JsonFlag, installation, runner
from orchestrator.cli.push_policy import pushes
from orchestrator.cli.run import find
from orchestrator.cli.screen import print_json, print_table, say, tell_each
from orchestrator.domain.egress import Ground, Unreadable, rule_json
from orchestrator.domain.egress_compile import Known, Layer, compile_policy
from orchestrator.domain.egress_text import policy_of
from orchestrator.domain.presets import Unavailable, rules_of, shipped_presets

app = typer.Typer(no_args_is_help=True, help="What runs may reach of the internet and push.")
app.command()(pushes)
console = Console()
COLUMNS = ("rule", "mode", "methods", "where", "paths")


@app.command()
def presets(json: JsonFlag = False) -> None:
    """List the presets, and whether this machine has what they need."""
    registries = read_registries(registries_file(installation().home))
    rows = []
    for name, preset in shipped_presets().items():
        found = rules_of(name, preset, registries)
        why = found.reason if isinstance(found, Unavailable) else ""
        rows.append({"preset": name, "available": not why, "why": why, "about": preset.about})
    tell_each(console, rows, ("preset", "what for", "here"), _preset_row, json=json)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A policy in YAML, as an engagement has it.")],
    json: JsonFlag = False,
) -> None:
    """Read a policy and show the rules that it means here; nothing is changed."""
    policy = policy_of(read_text(file), str(file))
    if isinstance(policy, Unreadable):
        raise CommandFailed(policy.reason, Code.REFUSED)
    known = Known(shipped_presets(), read_registries(registries_file(installation().home)))
    found = compile_policy(Ground(), [Layer("policy", policy)], [], known)
    _show([rule_json(rule) for rule in found.rules], found.left_out, json=json)


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="A run's id, or a task's id for its newest run.")],
    json: JsonFlag = False,
) -> None:
    """Show what a run that goes on may reach now, from all that is said of it."""
    with runner() as api:
        found = api.get(f"/api/runs/{segment(find(api, run)['id'])}/egress")
    if json:
        print_json(found)
        return
    _show(found["rules"], found["left_out"], json=False)
    wanted, applied = found["wanted"], found["applied"]
    if wanted == applied:
        say(console, f"policy {wanted} is in force")
    else:
        say(console, f"policy {wanted} is wanted, but {applied or 'none'} in force", "yellow")


def _show(rules: Iterable[Mapping[str, Any]], left_out: Iterable[str], *, json: bool) -> None:
    if json:
        print_json({"rules": list(rules), "left_out": list(left_out)})
        return
    print_table(console, COLUMNS, [_row(rule) for rule in rules])
    for sentence in left_out:
        say(console, f"not in it: {sentence}", "yellow")


def _preset_row(one: Mapping[str, Any]) -> tuple[object, ...]:
    return one["preset"], one["about"], one["why"] or "available"


def _row(rule: Mapping[str, Any]) -> tuple[object, ...]:
    ports = "".join(f":{port}" for port in rule["ports"])
    where = f"{'/'.join(rule['schemes'])} {rule['host']}{ports}"
    return rule["name"], rule["mode"], " ".join(rule["methods"]), where, " ".join(rule["paths"])
