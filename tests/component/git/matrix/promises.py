"""What holds of every exchange with the host, whatever it was about."""

from dataclasses import dataclass

from tests.servers.git import REAL_CREDENTIAL, RUN_TOKEN, Door
from tests.waiting import until

ENDS = "/git-receive-pack"


def pushes_at_host(at_door: Door) -> int:
    """How many requests to move a ref have reached the host."""
    return sum(path.partition("?")[0].endswith(ENDS) for path, _ in at_door.host_saw)


def left_behind(at_door: Door) -> list[str]:
    """What lies in quarantine: one folder a push that is not over."""
    incoming = at_door.root.parent / "kept" / "incoming"
    return [each.name for each in incoming.iterdir()] if incoming.exists() else []


@dataclass(slots=True)
class Host:
    """The host's repository. `refs`: as they are without any push through the door."""

    at_door: Door
    refs: dict[str, str]
    repository: str

    async def git(self, *arguments: str) -> str:
        """What git says in the host's repository, when somebody else works there."""
        said = await self.at_door.git.ok("-C", self.at_door.root / self.repository, *arguments)
        self.refs = await self.at_door.refs(self.repository)
        return said

    async def moves_on(self) -> str:
        """Somebody pushes to `main`, without the door; the new commit."""
        tree = await self.git("rev-parse", "main^{tree}")
        new = await self.git("commit-tree", "-p", "main", "-m", "Theirs", tree)
        await self.git("update-ref", "refs/heads/main", new)
        return new

    async def assert_kept(self) -> None:
        """No run token went on, nothing refused went on, no ref moved but as a record allows it."""
        for path, headers in self.at_door.host_saw:
            assert RUN_TOKEN not in f"{path} {headers}"
            assert "Cookie" not in headers
        written = repr(self.at_door.audit.records)
        assert RUN_TOKEN not in written
        assert REAL_CREDENTIAL.partition(":")[2] not in written
        pushes = [
            each
            for each in self.at_door.audit.decisions("git_push")
            if each.decision.word == "allow" and "updates" in each.detail
        ]
        assert pushes_at_host(self.at_door) <= len(pushes), "what was refused reached the host"
        allowed = {
            (update["ref"], update["new"]) for each in pushes for update in each.detail["updates"]
        }
        await until(lambda: not left_behind(self.at_door), 20)  # it goes when all is answered
        after = await self.at_door.refs(self.repository)
        assert after.items() - self.refs.items() <= allowed, "a ref moved that might not"
        assert self.refs.keys() <= after.keys(), "a ref is gone"
