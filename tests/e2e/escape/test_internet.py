"""The second door: what a sandbox gets of the internet that no rule has opened."""

import pytest

from tests.e2e.escape.agent import Agent

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

ASK = """
curl -sS -m 10 -o /dev/null -w '%{http_connect} %{http_code}\\n' https://forbidden.example/a 2>&1
curl -sS -m 10 http://forbidden.example/b?secret=1
python3 - <<'END'
import urllib.request
try:
    urllib.request.urlopen("https://forbidden.example/c", timeout=10)
except OSError as error:
    print(error)
END
"""


def test_without_a_rule_nothing_of_the_internet_is_reached(mole: Agent) -> None:
    """The egress proxy refuses whatever no rule allows, says how to ask for it, and records it (CASE-05)."""
    tried = mole.attempt(lambda: mole.do(ASK))
    assert "403 000" in tried.got.output
    assert tried.got.output.count("request_access") == 2
    denied = [line for line in tried.lines if line.get("door") == "egress"]
    assert [line["decision"] for line in denied] == ["deny"] * 3
    assert {line["run"] for line in denied} == {mole.run["id"]}
    assert "http://forbidden.example/b?secret=1" in [line.get("url") for line in denied]


def test_the_second_door_opens_with_the_runs_own_token_only(mole: Agent, neighbour: Agent) -> None:
    """A run token opens the egress proxy from its own sandbox's address, and from no other."""
    url = f"http://run:{neighbour.run_token}@{mole.house.here.gateway}:8081"
    ask = f"curl -sS -m 10 -x {url} -o /dev/null -w '%{{http_code}}' http://forbidden.example/"
    tried = mole.attempt(lambda: mole.do(ask))
    assert tried.got.output == "403"
    (line,) = [line for line in tried.lines if line.get("door") == "egress"]
    assert (line["kind"], line["address"]) == ("auth", mole.address)
    assert "not one of this sandbox" in line["reason"]


def test_the_proxys_authority_is_trusted_beside_all_others(mole: Agent) -> None:
    """The authority of the egress proxy is added to what sandboxes trust; nothing is taken out (CASE-80)."""
    count = "grep -c BEGIN.CERTIFICATE /etc/ssl/certs/ca-certificates.crt; ls /etc/ssl/certs/*.pem | wc -l"
    whole, own = (int(number) for number in mole.do(count).output.split())
    assert whole == own + 1
    assert mole.do("echo x >> /etc/ssl/certs/ca-certificates.crt").code != 0
