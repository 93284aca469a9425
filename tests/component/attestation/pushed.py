"""A push with its attestation, and what `verify` says of it."""

import base64
from pathlib import Path

import orjson

from entrance.attestation.envelope import sealed
from entrance.attestation.objects import objects_of
from entrance.attestation.refusals import Word
from entrance.attestation.statement import Push, read, written
from entrance.ports import AcceptedPush
from tests.servers.attested import House, Repository, looked, refused
from tests.servers.log import signer


class Pushed:
    """The push, the installation that attested it, and the repository that it came from."""

    def __init__(
        self, house: House, repository: Repository, push: AcceptedPush, file: Path
    ) -> None:
        self.house, self.repository, self.push, self.file = house, repository, push, file

    def verify(self, commit: str = "", **changed: Path) -> Word | None:
        found = looked(
            changed.get("file", self.file),
            changed.get("repository", self.repository.folder),
            commit or self.push.commits[-1],
            changed.get("log", self.house.log_folder),
        )
        return refused(found)

    def said(self) -> Push:
        return read(base64.b64decode(orjson.loads(self.file.read_bytes())["payload"]))

    def saying(self, **changed: object) -> Path:
        """Another statement that our key has signed."""
        other = self.file.with_name("other.json")
        other.write_bytes(sealed(written(self.said().model_copy(update=changed)), signer()))
        return other

    def resolved(self, name: str) -> str:
        """The commit that a name stands for."""
        with objects_of(self.repository.folder) as objects:
            return objects.resolve(name)
