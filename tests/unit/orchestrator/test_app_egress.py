"""Who hears of what at the doors: a session that opens or closes, a request that is held."""

from pathlib import Path
from typing import Any

from entrance.decision import Allow, Decision, Deny, Hold
from entrance.log.records import Decided, Request
from entrance.registry import SessionRegistry
from entrance.session import RunId, Session, TaskId
from orchestrator.app.egress import AnnouncingDoor, Inbox
from orchestrator.approvals.holds import HeldRequest, Holds
from tests.fakes.approvals import Inbox as Fakes
from tests.fakes.world import FakeWorld

SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "0" * 64)
URL = "https://a.example/x"


def test_a_change_of_sessions_is_told_after_it_has_happened() -> None:
    registry, seen = SessionRegistry(), list[int]()
    door = AnnouncingDoor(registry, lambda: seen.append(len(registry.sessions())))
    door.open(SESSION)
    door.close(SESSION.run)
    assert seen == [1, 0]


class Heard(Holds):
    """Notes what it is told."""

    def __init__(self, asking: Any) -> None:
        super().__init__(asking)
        self.told: list[HeldRequest] = []

    def tell(self, held: HeldRequest) -> None:
        self.told.append(held)


def record(decision: Decision, session: Session | None, url: str = URL) -> Decided:
    request = Request("GET", url, "a.example", 443)
    return Decided("http", "x", decision, session, request=request, rule="engagement/a")


def test_only_what_is_held_of_a_known_run_comes_into_the_inbox(tmp_path: Path) -> None:
    fakes = Fakes(FakeWorld(tmp_path))
    heard = Heard(fakes.asking)
    inbox = Inbox(fakes.store, fakes.feed, fakes.asking, heard, fakes.keeping, None)
    for one in (
        record(Hold("wait"), SESSION),
        record(Hold("wait"), None),
        record(Hold("wait"), SESSION, url=""),
        record(Deny("no"), SESSION),
        record(Allow(), SESSION),
        Decided("tool_call", "x", Hold("wait"), SESSION),
    ):
        inbox.held(one)
    assert heard.told == [
        HeldRequest(SESSION.run, "GET", URL, {"asked_by": "the rule engagement/a"})
    ]
