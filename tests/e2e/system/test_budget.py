"""Many calls at once from one sandbox: together they don't pass the budget, and the run says why."""

import contextlib
from decimal import Decimal

import docker
import pytest

from tests.e2e.escape.agent import obeying
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

CAP = Decimal("0.20")
EIGHT_AT_ONCE = """
python3 - > /tmp/asked <<'END'
import json
text = "SPEND " + "x" * 40000
said = [{"role": "user", "content": text}]
print(json.dumps({"model": "claude-sonnet-5", "max_tokens": 1024, "messages": said}))
END
for n in 1 2 3 4 5 6 7 8; do
  curl -s -o /dev/null -w '%{http_code}\\n' --data-binary @/tmp/asked \
    -H "Authorization: Bearer $SANDGATE_RUN_TOKEN" \
    "$SANDGATE_ENTRANCE/model/anthropic/v1/messages" &
done
wait
"""
"""Each costs $0.041, and $0.05 at worst, which can't be shortened: three go out at once."""


def test_eight_calls_at_once_from_one_sandbox_do_not_pass_the_budget(house: House) -> None:
    house.hire("spender", budget_usd=str(CAP))
    task = house.task("RUIN, spender", agent="spender")
    with contextlib.closing(docker.from_env(timeout=90)) as engine:
        agent = obeying(house, engine, task)
        answers = agent.do(EIGHT_AT_ONCE).output.split()
    run = agent.end()
    assert sorted(answers) == ["200"] * 4 + ["403"] * 4, answers
    assert (run["outcome"], run["cause"]) == ("stopped", "budget"), run
    assert Decimal("0.16") < Decimal(run["usage"]["cost_usd"]) <= CAP
    refused = [line for line in house.trail(run["id"]) if line.get("decision") == "deny"]
    assert [line["detail"]["refused"] for line in refused] == ["budget"] * 4, refused
