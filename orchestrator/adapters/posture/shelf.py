"""Reports and acceptances on the disk: `<home>/posture/`, one JSON file each, signed.

A file that is not signed by the installation's key, or was changed, is passed over and said in the log.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError

from entrance.errors import Unavailable
from orchestrator.posture.report import Acceptance, Report
from orchestrator.posture.signed import Signed, as_json

log = structlog.get_logger()

REPORTS, ACCEPTED = "reports", "accepted"
KEPT = 100
"""So many of the newest reports are kept."""


class Shelf:
    """Implements `posture.proving.Shelf` in a folder of its own."""

    def __init__(self, folder: Path, key: Ed25519PublicKey) -> None:
        self._folder = folder
        self._key = key

    async def latest(self, fingerprint: str | None = None) -> Report | None:
        """The newest report of a configuration, or of any."""
        return await asyncio.to_thread(self._latest, fingerprint)

    async def keep(self, report: Report) -> None:
        """Keep a report, and let the oldest go. Raises: Unavailable."""
        await asyncio.to_thread(self._write, REPORTS, report.id, report)

    async def acceptances(self) -> Sequence[Acceptance]:
        """Everything that was ever accepted, oldest first."""
        return await asyncio.to_thread(lambda: list(self._read(ACCEPTED, Acceptance)))

    async def accept(self, acceptance: Acceptance) -> None:
        """Keep an acceptance. Raises: Unavailable."""
        name = f"{acceptance.at:%Y%m%dT%H%M%S%fZ}-{acceptance.probe.replace('@', '-')}"
        await asyncio.to_thread(self._write, ACCEPTED, name, acceptance)

    def _latest(self, fingerprint: str | None) -> Report | None:
        newest = self._read(REPORTS, Report, newest_first=True)
        return next((r for r in newest if fingerprint in {None, r.fingerprint}), None)

    def _read[Form: Signed](
        self, kind: str, form: type[Form], *, newest_first: bool = False
    ) -> Iterator[Form]:
        for file in sorted((self._folder / kind).glob("*.json"), reverse=newest_first):
            try:
                found = form.model_validate_json(file.read_bytes())
                found.verify(self._key)
            except (OSError, ValidationError, ValueError) as error:
                why = "it can't be read" if isinstance(error, ValidationError) else str(error)
                log.warning("posture_file_passed_over", file=file.name, why=why)
                continue
            yield found

    def _write(self, kind: str, name: str, signed: Signed) -> None:
        folder = self._folder / kind
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = folder / f".{name}.part"
            part.write_bytes(as_json(signed))
            part.replace(folder / f"{name}.json")
            if kind == REPORTS:
                for old in sorted(folder.glob("*.json"))[:-KEPT]:
                    old.unlink()
        except OSError as error:
            raise Unavailable(f"{folder} can't be written to: {error}") from error
