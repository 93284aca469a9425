"""What the internet needs of the runner: the policy of sandboxes, and the inbox."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from secrets import token_hex

from entrance.decision import Hold
from entrance.log.records import Decided
from entrance.ports import Causes
from entrance.registry import SessionRegistry
from entrance.session import RunId, Session, TaskId
from orchestrator.adapters.egress_files import (
    InstallationFiles,
    PolicyFiles,
    own_policy_file,
    registries_file,
)
from orchestrator.adapters.egress_record import RecordedAttempts
from orchestrator.app.keys import honey_key_of
from orchestrator.app.sandboxes import EGRESS_PORT_AFTER
from orchestrator.approvals.asking import Asking
from orchestrator.approvals.deciding import Deciding
from orchestrator.approvals.feed import Feed, TellingStore
from orchestrator.approvals.handling import EgressHandling, Handling
from orchestrator.approvals.holds import HeldRequest, Holds
from orchestrator.approvals.items import Items
from orchestrator.approvals.keeping import Keeping
from orchestrator.approvals.ports import ApprovalStore, Rights
from orchestrator.approvals.waking import Waking
from orchestrator.board import Board, Wish
from orchestrator.domain.kinds import EGRESS
from orchestrator.domain.presets import shipped_presets
from orchestrator.domain.supervision import Decision
from orchestrator.egress_policy import EgressPolicy, canaries_for
from orchestrator.ports import Clock, Runs, Tracker
from orchestrator.settings import Settings


@dataclass(frozen=True, slots=True)
class AnnouncingDoor:
    """`orchestrator.runner.ports.Door`: the register of sessions, and who has to know of a change."""

    registry: SessionRegistry
    changed: Callable[[], None]

    def open(self, session: Session) -> None:
        self.registry.open(session)
        self.changed()

    def close(self, run: RunId) -> None:
        self.registry.close(run)
        self.changed()


@dataclass(frozen=True, slots=True)
class Inbox:
    """The inbox, and the policy that its decisions go into; None: nothing of the internet is open here."""

    store: ApprovalStore
    feed: Feed
    asking: Asking
    holds: Holds
    keeping: Keeping
    policy: EgressPolicy | None

    def held(self, record: Decided) -> None:
        """Something was recorded; what is held of it comes into the inbox."""
        request = record.request
        if isinstance(record.decision, Hold) and record.session and request and request.url:
            self.holds.tell(
                HeldRequest(
                    record.session.run,
                    request.method,
                    request.url,
                    {"asked_by": f"the rule {record.rule}"},
                )
            )

    def waking(self, board: Board) -> Waking:
        """How a task goes on by what is decided."""

        async def wake(task: TaskId, words: str, user: str) -> None:
            await board.decide(task, Wish(Decision.ANSWER, words, user))

        return Waking(self.store, self.keeping.runs, wake)

    def deciding(
        self,
        settings: Settings,
        tracker: Tracker,
        waking: Waking,
        handlings: Mapping[str, Handling],
        *,
        rights: Rights,
    ) -> Deciding:
        """How its items are decided; `handlings` are those of other kinds than the internet."""
        return Deciding(
            store=self.store,
            runs=self.keeping.runs,
            tracker=tracker,
            clock=self.keeping.clock,
            recorded=RecordedAttempts(settings.log.folder),
            handlings={EGRESS: EgressHandling(self.keeping.apply), **handlings},
            waking=waking,
            rights=rights,
        )


def make_inbox(
    settings: Settings,
    registry: SessionRegistry,
    *,
    store: ApprovalStore,
    runs: Runs,
    tracker: Tracker,
    clock: Clock,
    causes: Causes,
) -> Inbox:
    """Put them together; the policy only where the settings name the proxy's files."""
    feed = Feed(born=token_hex(4))
    store = TellingStore(store, feed)
    policy: list[EgressPolicy] = []

    async def apply() -> bool:
        return await policy[0].apply() if policy else True

    keeping = Keeping(store, runs, clock, apply)
    given = settings.egress
    if given.policy_file and given.status_file:
        policy.append(
            EgressPolicy(
                sessions=registry.sessions,
                runs=runs,
                approvals=store,
                claim=keeping.claim,
                sources=_sources(settings),
                files=PolicyFiles(given.policy_file, given.status_file),
                clock=clock,
                door=(settings.entrance.host, settings.entrance.port + EGRESS_PORT_AFTER),
                canaries=partial(canaries_for, honey_key_of(settings)),
            )
        )
    asking = Asking(Items(store, runs, tracker, clock, causes))
    return Inbox(store, feed, asking, Holds(asking), keeping, policy[0] if policy else None)


def _sources(settings: Settings) -> InstallationFiles:
    return InstallationFiles(
        policy=own_policy_file(settings.home),
        registries=registries_file(settings.home),
        presets=shipped_presets(),
        subnet=str(settings.sandboxes.subnet),
    )
