"""What runs have used, kept over a restart: a rule that may be used once is used once."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from proxy.policy import Used


@dataclass(slots=True)
class _Account:
    requests: int = 0
    bytes: int = 0
    uses: dict[str, int] = field(default_factory=dict)


_KEPT = TypeAdapter(dict[str, _Account])


class Usage:
    """The accounts of runs, in memory and in a file."""

    def __init__(self, file: Path) -> None:
        """Raises: ValueError when the file holds no accounts: what was used can't be known then."""
        self._file = file
        self._accounts: dict[str, _Account] = {}
        self._changed = False
        with suppress(FileNotFoundError):
            self._accounts = _KEPT.validate_json(file.read_bytes())

    def of(self, run: str) -> Used:
        """What the run has used."""
        account = self._accounts.get(run)
        if account is None:
            return Used()
        return Used(account.requests, account.bytes, account.uses)

    def request(self, run: str, rule: str, *, counted: bool) -> None:
        """One request more under the rule; of a counted rule on the disk before it leaves.

        Raises: OSError.
        """
        account = self._accounts.setdefault(run, _Account())
        account.requests += 1
        self._changed = True
        if counted:
            account.uses[rule] = account.uses.get(rule, 0) + 1
            self.save()

    def give_back(self, run: str, rule: str, *, counted: bool) -> None:
        """A request that was counted and didn't leave; its run may be over. Raises: OSError."""
        account = self._accounts.get(run)
        if account is None:
            return
        account.requests -= 1
        self._changed = True
        if counted:
            account.uses[rule] -= 1
            self.save()

    def transferred(self, run: str, number: int) -> int:
        """So many bytes more; how many it has used in all."""
        account = self._accounts.setdefault(run, _Account())
        account.bytes += number
        self._changed = True
        return account.bytes

    def forget_all_but(self, runs: Iterable[str]) -> None:
        """Runs that have ended use nothing any more."""
        kept = set(runs)
        for run in self._accounts.keys() - kept:
            del self._accounts[run]
            self._changed = True

    def save(self) -> None:
        """Write what changed. Raises: OSError."""
        if not self._changed:
            return
        text: dict[str, Any] = _KEPT.dump_python(self._accounts)
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(text))
        part.replace(self._file)
        self._changed = False
