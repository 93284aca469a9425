"""When the policy is made anew, and out of what.

Level-triggered: it is made from the sessions that are open, what their runs were started with, what the
installation says now and what people allow now. So a restart repairs it, and nothing has to be undone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from entrance.errors import Malformed, NotFound, SandgateError, Unavailable
from entrance.session import RunId, Session
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.access import approved_rules
from orchestrator.domain.approval import Approval
from orchestrator.domain.egress import Ground, Policy, Unreadable
from orchestrator.domain.egress_compile import Compiled, Known, compile_policy, in_words
from orchestrator.domain.presets import environment_of
from orchestrator.domain.run import Run
from orchestrator.domain.sandbox_trust import TRUST, proxy_environment
from orchestrator.egress_policy.delivery import Delivery
from orchestrator.egress_policy.entries import entry_of
from orchestrator.egress_policy.ports import ProxyFiles, Sources
from orchestrator.ports import Clock, Runs
from proxy.canaries import Canary
from proxy.rules import SandboxPolicy

log = structlog.get_logger()

EVERY_S = 20.0
"""So often it is looked at anew, whatever has been told: a rule's day comes by itself."""
PATIENCE_S = 10.0
"""So long the proxy has to take a policy up."""
FILES_S = 1.0
"""So often the installation's own files are looked at: people edit them while runs go on."""


@dataclass
class EgressPolicy:
    """Writes the policy, and says whether it is in force."""

    sessions: Callable[[], Sequence[Session]]
    """Those that are open at the door now."""
    runs: Runs
    approvals: ApprovalStore
    claim: Callable[[Run], Awaitable[None]]
    """Gives a run what was allowed to its task before it began."""
    sources: Sources
    files: ProxyFiles
    clock: Clock
    door: tuple[str, int]
    """The proxy's address and port, as a sandbox sees them."""
    others: list[Callable[[], Sequence[SandboxPolicy]]] = field(default_factory=list)
    """Policies of other sandboxes than those of runs' agents: the posture's battery, MCP servers."""
    canaries: Callable[[Session], tuple[Canary, ...]] = lambda _: ()
    """What the proxy is to look for in what a session's sandbox sends."""
    patience_s: float = PATIENCE_S
    closed: str = ""
    """Why no run may start now; empty when one may."""
    _delivery: Delivery = field(init=False, repr=False)
    _dirty: asyncio.Event = field(init=False, repr=False, default_factory=asyncio.Event)
    _lock: asyncio.Lock = field(init=False, repr=False, default_factory=asyncio.Lock)
    _compiled: dict[RunId, Compiled] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._delivery = Delivery(self.files, self.patience_s)

    def changed(self) -> None:
        """Sessions, approvals or the installation's policy may have changed: look anew, soon."""
        self._dirty.set()

    def environment(self, run: Run) -> Mapping[str, str]:
        """Variables that lead the sandbox's programs to the authorities that they are to trust, and its
        package managers to the registries that it may use.
        """
        return self.variables([layer.policy for layer in run.egress])

    def variables(self, wanted: Sequence[Policy]) -> Mapping[str, str]:
        """The same for whoever's policies these are."""
        ground = self.sources.ground()
        own = [ground.policy] if isinstance(ground, Ground) else []
        known = self.sources.known()
        names = {name for policy in (*wanted, *own) for name in policy.presets}
        return {**TRUST, **environment_of(names, known.presets, known.registries)}

    def way_out(self, token: str) -> Mapping[str, str]:
        """Variables that lead the programs of the run with this token to the proxy."""
        return proxy_environment(*self.door, token)

    async def admit(self, run: Run) -> Sequence[str]:
        """Have an open session's policy in force; says what of the wishes isn't in it.

        Raises: Unavailable when the proxy doesn't take it up in time, or no policy can be made.
        """
        await self.claim(run)
        generation = await self._written()
        if self.closed:
            raise Unavailable(self.closed)
        if not await self._delivery.in_force(generation):
            raise Unavailable(
                f"the egress proxy did not take up its policy in {self.patience_s:g} s"
            )
        if run.id not in self._compiled:
            raise Unavailable(f"run {run.id} is not in the egress policy")
        return self._compiled[run.id].left_out

    async def apply(self) -> bool:
        """Have what is stored in force; whether that was done in time. Nothing is lost if it wasn't."""
        try:
            return await self._delivery.in_force(await self._written())
        except SandgateError as error:
            log.warning("egress_policy_not_written", error=str(error))
            self.changed()
            return False

    async def run(self) -> None:
        """Write whenever something has changed, until cancelled; an outage is for the next look."""
        while True:
            self._dirty.clear()
            seen = self.sources.mark()
            try:
                await self._written()
            except SandgateError as error:
                log.warning("egress_policy_not_written", error=str(error))
            await self._something_new(seen)

    def compiled(self, run: RunId) -> Compiled | None:
        """What a run may reach now; None when its session isn't open."""
        return self._compiled.get(run)

    def generations(self) -> tuple[int, int]:
        """Which policy is wanted, and which the proxy has in force (0: none). Raises: Unavailable."""
        return self._delivery.generations()

    async def check(self) -> str:
        """How it is, in words. Raises: Unavailable when what is wanted is not in force."""
        wanted, applied = self.generations()
        if self.closed or wanted != applied:
            late = f"policy {wanted} is wanted, but {applied or 'none'} in force"
            raise Unavailable(self.closed or late)
        return f"policy {wanted} is wanted and in force"

    def reaches(self, run: RunId) -> Sequence[str]:
        """What is open to a run now, in lines for its agent."""
        return in_words(self._compiled.get(run, Compiled()))

    async def _written(self) -> int:
        """Write the policy unless it is there already; its generation. Raises: Unavailable."""
        async with self._lock:
            ground = self.sources.ground()
            self.closed = ground.reason if isinstance(ground, Unreadable) else ""
            items = await self.approvals.in_force()
            self._compiled = (
                {} if isinstance(ground, Unreadable) else await self._all(ground, items)
            )
            return self._delivery.put(self.sources.refused(), self._entries())

    def _entries(self) -> tuple[SandboxPolicy, ...]:
        """By address, the newest session: what is gone may still be open when its address is given anew."""
        found: dict[str, SandboxPolicy] = {}
        for session in self.sessions():
            compiled = self._compiled.get(session.run)
            if compiled is None:
                continue
            try:
                found[session.address] = entry_of(session, compiled, self.canaries(session))
            except ValueError:
                log.exception("sandbox_not_in_the_policy", run=session.run)
        found |= {box.address: box for box in self._of_no_run()}
        return tuple(found.values())

    def _of_no_run(self) -> list[SandboxPolicy]:
        return [box for others in self.others for box in others()]

    async def _all(self, ground: Ground, items: Sequence[Approval]) -> dict[RunId, Compiled]:
        known, found = self.sources.known(), {}
        of_no_run = {box.run for box in self._of_no_run()}
        for session in self.sessions():
            if session.run in of_no_run:
                continue
            try:
                run = await self.runs.get(session.run)
            except (NotFound, Malformed) as error:  # nobody can say what it may reach
                log.warning("run_not_in_the_policy", run=session.run, error=str(error))
                continue
            found[run.id] = self._compile(ground, run, items, known)
        return found

    def _compile(
        self, ground: Ground, run: Run, items: Sequence[Approval], known: Known
    ) -> Compiled:
        now = self.clock.now()
        own = [
            item
            for item in items
            if item.opens(now) and item.is_for(run.id, run.engagement, run.agent, run.project)
        ]
        return compile_policy(ground, run.egress, approved_rules(own), known)

    async def _something_new(self, seen: object) -> None:
        """Return when something has been told, the installation's files have changed, or it is time."""
        for _ in range(round(EVERY_S / FILES_S)):
            with suppress(TimeoutError):
                async with asyncio.timeout(FILES_S):
                    await self._dirty.wait()
            if self._dirty.is_set() or self.sources.mark() != seen:
                return
