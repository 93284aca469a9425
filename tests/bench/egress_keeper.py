"""The egress log and its recorder, in a process of its own, for the egress proxy's bench.

python -m tests.bench.egress_keeper FOLDER SOCKET
"""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from entrance.log.egress_log import EgressLog
from entrance.log.recorder import Recorder
from entrance.log.signing import Signer
from entrance.registry import SessionRegistry


async def _keep(folder: Path, socket: Path) -> None:
    folder.mkdir()
    log = EgressLog(
        folder,
        Signer(Ed25519PrivateKey.generate()),
        lambda: datetime.now(UTC),  # noqa: TID251 - a bench runs by the real clock
        installation="bench",
    )
    recorder = Recorder(log, SessionRegistry())
    await recorder.open(socket)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_keep(*map(Path, sys.argv[1:])))
