"""`Attestor`: the door's `Witness`. Each push that the host took gets one attestation."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from entrance.attestation.envelope import sealed
from entrance.attestation.statement import push_of, written
from entrance.attestation.store import Attestations
from entrance.decision import Allow
from entrance.errors import Unavailable
from entrance.log.records import Audit, Decided, Outcome
from entrance.log.seal import Facts
from entrance.log.signing import Signer
from entrance.ports import AcceptedPush


@dataclass(frozen=True, slots=True)
class Attestor:
    """Implements `Witness`.

    `newest`: the log's newest segment, as far as it is on the disk. `version`: Sandgate's.
    """

    store: Attestations
    signer: Signer
    audit: Audit
    newest: Callable[[], Facts]
    now: Callable[[], datetime]
    version: str
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def accepted(self, push: AcceptedPush) -> None:
        """Write the attestation of a push; one, however often it is told; of a trial none.

        Raises: Unavailable.
        It is on the disk first and in the log then: what is told again is what the file says.
        """
        if push.session.trial:
            return
        name = name_of(push)
        try:
            async with self._writing:
                envelope = await asyncio.to_thread(self._keep, name, push)
        except OSError as error:
            raise Unavailable(f"the attestation {name} can't be kept: {error}") from error
        digest = hashlib.sha256(envelope).hexdigest()
        seq = await self.audit.decided(
            Decided(
                "attestation",
                name,
                Allow(),
                push.session,
                detail={"of": push.decision, "sha256": digest},
                key=f"attestation-{name}",
            )
        )
        await self.audit.came_of_it(Outcome(seq, "kept"))

    def _keep(self, name: str, push: AcceptedPush) -> bytes:
        known = self.store.get(name)
        envelope = known or self._made(push)
        about = dict.fromkeys((*push.commits, *(one.new for one in push.moved)))
        return self.store.keep(name, envelope, push.session.run, about)

    def _made(self, push: AcceptedPush) -> bytes:
        key_id, at = self.signer.trust.key_id, self.now().isoformat()
        said = push_of(push, self.newest(), key_id=key_id, at=at, version=self.version)
        return sealed(written(said), self.signer)


def name_of(push: AcceptedPush) -> str:
    """The file's name: the same for the same push, and for no other, also after the log began anew."""
    told = (
        push.session.run,
        push.repository.name,
        str(push.decision),
        *(f"{one.ref} {one.old} {one.new}" for one in push.moved),
    )
    digest = hashlib.sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{push.decision:010d}-{digest[:16]}.json"
