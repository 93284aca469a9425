"""The whole door with the real git client: its helper asked, the vault's secret sent on."""

from pathlib import Path

from entrance.session import RepoGrant
from orchestrator.stack.githost import GitHost, serving
from tests.servers.door import Door
from tests.servers.git import Git, put_small_repository

SECRET = "a-real-git-secret"


async def test_git_asks_its_helper_and_the_host_sees_the_vaults_secret(
    door: Door, tmp_path: Path
) -> None:
    """CASE-33: 401 without a token, and the real client recovers; CASE-26: no token in the clone."""
    root, home = tmp_path / "host", tmp_path / "home"
    home.mkdir()
    put_small_repository(root / "small.git")
    saw: list[str] = []
    host = GitHost(
        root,
        f"x-access-token:{SECRET}",
        seen=lambda request: saw.append(request.headers.get("authorization", "")),
    )
    async with serving(host) as address:
        await door.vault.put("git", SECRET, [address.removeprefix("http://")], "git")
        door.reopen(
            repositories=(RepoGrant("host/small.git", f"{address}/small.git", credential="git"),)
        )
        helper = f"!f() {{ echo username=run; echo password={door.token}; }}; f"
        git, url = Git(home), f"{door.url}/git/host/small.git"
        await git.ok("-c", f"credential.helper={helper}", "clone", "--quiet", url, "clone")
    assert (home / "clone" / "readme.txt").read_text() == "hello\n"
    kept = b"".join(
        each.read_bytes() for each in (home / "clone" / ".git").rglob("*") if each.is_file()
    )
    assert door.token.encode() not in kept
    assert saw
    assert all(value.startswith("Basic ") for value in saw)
    assert [line["detail"]["trouble"] for line in door.lines("auth")] == ["missing"]
