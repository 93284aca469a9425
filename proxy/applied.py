"""The policy in force: read from its file when that changes, and what was applied, for all to see.

A file that is missing or unreadable is a policy that refuses everything.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proxy.addresses import Network
from proxy.policy import SandboxPolicy
from proxy.policy_file import PolicyFile

_MAX_REASON = 400


class Applied:
    """The last policy read, or why there is none."""

    def __init__(self, file: Path, status_file: Path) -> None:
        self._file = file
        self._status_file = status_file
        self._seen: tuple[int, int, int] | None = None
        self._shown: bytes = b""
        self.trouble = "the policy was not read yet"
        self.generation = 0
        self.sandboxes: Mapping[str, SandboxPolicy] = {}
        """By address."""
        self.refused: tuple[Network, ...] = ()

    def refresh(self) -> bool:
        """Read the file if it is another than before; say whether the policy changed."""
        try:
            found = self._file.stat()
            seen = (found.st_mtime_ns, found.st_ino, found.st_size)
            if seen == self._seen:
                return False
            self._apply(PolicyFile.parse(self._file.read_bytes()))
        except (OSError, ValueError) as error:
            return self._fail(f"{type(error).__name__}: {error}"[:_MAX_REASON])
        self._seen = seen
        return True

    def status(self, **more: Any) -> dict[str, Any]:
        """What is applied, as JSON."""
        return {
            "pid": os.getpid(),
            "generation": self.generation,
            "sandboxes": len(self.sandboxes),
            "trouble": self.trouble,
            **more,
        }

    def show(self, status: Mapping[str, Any]) -> None:
        """Write the status file when it says something new. Raises: OSError."""
        text = json.dumps(status).encode()
        if text == self._shown:
            return
        part = self._status_file.with_suffix(".part")
        part.write_bytes(text)
        part.replace(self._status_file)
        self._shown = text

    def _apply(self, policy: PolicyFile) -> None:
        self.sandboxes = policy.by_address()
        self.refused = policy.own_networks()
        self.generation = policy.generation
        self.trouble = ""

    def _fail(self, trouble: str) -> bool:
        changed = self.trouble != trouble
        self._seen = None
        self.sandboxes, self.refused, self.trouble = {}, (), trouble
        return changed
