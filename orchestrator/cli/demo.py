"""`sandgate demo`: the whole story on this machine, shown as a table and written as JSON."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from entrance.model.prices import PriceList
from orchestrator.app.listeners import prices_of
from orchestrator.cli.client import Runner
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.demo_cast import PROVIDERS, cast_of
from orchestrator.cli.demo_facts import Show, Told, summary_of
from orchestrator.cli.demo_summary import show_summary, write_summary
from orchestrator.cli.demo_team import assign
from orchestrator.cli.run import follow
from orchestrator.cli.screen import one_line, print_json
from orchestrator.settings import Environment, service_environment
from orchestrator.stack.demo.stage import Stage, set_stage
from orchestrator.stack.demo.task import load_demo
from orchestrator.stack.installation import Installation
from orchestrator.stack.own_settings import own_settings
from orchestrator.stack.services import LOOPBACK
from orchestrator.stack.steps import Steps
from orchestrator.stack.up import bring_up
from orchestrator.stack.wiring import Wishes, kept_providers


def show_demo(console: Console, *, harness: str, model: str, json: bool) -> Mapping[str, Any]:
    """Do it, show it, write `<home>/demo/summary.json`; returns the run as it ended.

    Raises: CommandFailed, also when what was metered is not what was served.
    """
    began = time.monotonic()
    screen = Console(stderr=True) if json else console
    show = _set_up(screen, harness, model)
    here = show.here
    ready = time.monotonic()
    with Runner(f"http://{LOOPBACK}:{here.ports.runner}", here.keys / "api.token") as runner:
        told = _play(runner, show, screen)
        summary = summary_of(show, runner, told)
    summary["seconds"] |= {
        "set_up": round(ready - began, 1),
        "total": round(time.monotonic() - began, 1),
    }
    write_summary(here.home / "demo" / "summary.json", summary)
    if json:
        print_json(summary)
    else:
        show_summary(console, summary, log=here.data("egress"))
    if not summary["equal"]:
        raise CommandFailed("the door has not metered what the model served: see the summary")
    return told.run


def _play(runner: Runner, show: Show, screen: Console) -> Told:
    task_id = assign(runner, show.stage, show.task, show.cast)
    screen.rule(Text(one_line(f"{task_id}: {show.task.title}")), style="dim")
    run = runner.wait_for_run(task_id)
    events: list[Mapping[str, Any]] = []
    return Told(follow(runner, run["id"], console=screen, keep=events), events)


def _set_up(screen: Console, harness: str, model: str) -> Show:
    environment, steps, task = Environment(), Steps(screen), load_demo()
    here = Installation.open(environment.home, create=True)
    prices = _prices(here)
    cast = cast_of(harness, model, prices)
    stage = set_stage(here, task, steps, service_environment())
    wishes = Wishes(
        home=environment.home,
        docker_host=environment.docker_host,
        execd_image=environment.execd_image,
        harnesses=(cast.harness,),
        providers=_providers(here, stage),
    )
    return Show(bring_up(wishes, steps), stage, task, cast, prices)


def _prices(here: Installation) -> PriceList:
    """The prices that the door goes by. Raises: CommandFailed when the installation's own can't be read."""
    file = own_settings(here.home).get("MODELS__PRICES")
    try:
        return prices_of(Path(file) if file else None)
    except ValueError as error:
        raise CommandFailed(f"{file}: {error}", Code.REFUSED) from error


def _providers(here: Installation, stage: Stage) -> Mapping[str, str]:
    """The installation's providers and the demo's. Raises: CommandFailed when the two are at odds."""
    kept = kept_providers(here)
    for name in PROVIDERS:
        if kept.get(name, stage.model_url) != stage.model_url:
            raise CommandFailed(
                f"this installation's {name} models are at {kept[name]}: run the demo in a home "
                "of its own, such as SANDGATE_HOME=.sandgate-demo",
                Code.REFUSED,
            )
    return {**kept, **dict.fromkeys(PROVIDERS, stage.model_url)}
