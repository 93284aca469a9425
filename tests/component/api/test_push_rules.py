"""What pushes may bring is told: here, under an engagement, in a run."""

from dataclasses import replace

from entrance.push_policy import Mode, PushPolicy
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.push_demand import Demand
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK
from tests.servers.api import Api
from tests.unit.entrance.git.checks.pushes import SESSION


async def modes(api: Api, path: str) -> dict[str, str]:
    answer = await api.ask("GET", path)
    assert answer.status == 200
    return {rule["rule"]: rule["mode"] for rule in answer.json["rules"]}


async def test_the_installations_rules_are_told(api: Api) -> None:
    answer = await api.ask("GET", "/api/push-rules")
    rules = {rule["rule"]: rule for rule in answer.json["rules"]}
    assert rules["secret"]["mode"] == "deny"
    assert rules["rewind"]["fixed"]
    assert answer.json["max_file_bytes"] == PushPolicy().max_file_bytes


async def test_an_engagement_has_what_it_asks_for_besides(api: Api) -> None:
    asks = Demand(modes={"gate-path": Mode.DENY, "secret": Mode.NOTE}, gate_paths=("deploy/**",))
    api.fakes.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, pushes=asks)
    told = await modes(api, f"/api/push-rules?engagement={ENGAGEMENT.id}")
    assert (told["gate-path"], told["secret"]) == ("deny", "deny")
    assert (await modes(api, "/api/push-rules"))["gate-path"] == "hold"


async def test_an_engagement_that_can_not_be_read_is_told_so(api: Api) -> None:
    unreadable = Unreadable("pushes of X, line 3: no")
    api.fakes.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, pushes=unreadable)
    answer = await api.ask("GET", f"/api/push-rules?engagement={ENGAGEMENT.id}")
    assert (answer.status, answer.error["message"]) == (
        409,
        "pushes of X, line 3: no; none of its runs starts",
    )
    missing = await api.ask("GET", "/api/push-rules?engagement=NO-1")
    assert missing.status == 404


async def test_a_run_has_what_held_when_it_began(api: Api) -> None:
    run = a_run(task=TASK.id)
    await api.fakes.runs.create(run)
    assert (await api.ask("GET", f"/api/runs/{run.id}/push-rules")).status == 404
    session = replace(SESSION, run=run.id, push_policy=PushPolicy({"secret": Mode.HOLD}))
    await api.fakes.runs.replace(replace(run, session=session, version=run.version + 1))
    assert (await modes(api, f"/api/runs/{run.id}/push-rules"))["secret"] == "hold"
