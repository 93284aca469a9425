"""The key file: made once, private, and not taken from anybody else's hands."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from entrance.errors import Forbidden, Malformed, Unavailable
from entrance.vault.keyfile import load_or_make, open_keyring
from entrance.vault.vault import Vault
from tests.fakes.secrets import FakeSecretStore


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "vault.key"
    made = load_or_make(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert load_or_make(path).keys == made.keys
    assert [each.name for each in path.parent.iterdir()] == ["vault.key"]


def test_all_who_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        rings = list(pool.map(load_or_make, [tmp_path / "vault.key"] * 16))
    assert len({ring.current for ring in rings}) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "vault.key"
    load_or_make(path)
    path.chmod(mode)
    with pytest.raises(Forbidden, match="others may read"):
        load_or_make(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.key", tmp_path / "vault.key"
    load_or_make(real)
    link.symlink_to(real)
    with pytest.raises(Forbidden, match="can't be opened"):
        load_or_make(link)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "vault.key"
    path.write_bytes(b"x" * size)
    path.chmod(0o600)
    with pytest.raises(Malformed, match="32 bytes"):
        load_or_make(path)


async def sealed(store: FakeSecretStore, path: Path) -> None:
    vault = Vault(store, await open_keyring(path, store))
    await vault.put("anthropic", "sk-of-the-tests", ["api.example"], "anthropic")


async def test_a_key_is_made_as_long_as_nothing_is_sealed(tmp_path: Path) -> None:
    store, path = FakeSecretStore(), tmp_path / "vault.key"
    await sealed(store, path)
    assert await Vault(store, await open_keyring(path, store)).check() == 1


async def test_a_lost_key_is_not_replaced_while_something_is_sealed(tmp_path: Path) -> None:
    store, path = FakeSecretStore(), tmp_path / "vault.key"
    await sealed(store, path)
    path.rename(tmp_path / "copy")
    with pytest.raises(Forbidden, match=r"1: anthropic.*sandgate secret reset") as refused:
        await open_keyring(path, store)
    assert str(path) in str(refused.value)
    assert not path.exists()
    (tmp_path / "copy").rename(path)
    assert await Vault(store, await open_keyring(path, store)).check() == 1


async def test_a_key_is_not_made_while_it_is_not_known_whether_something_is_sealed(
    tmp_path: Path,
) -> None:
    store, path = FakeSecretStore(), tmp_path / "vault.key"
    store.down = True
    with pytest.raises(Unavailable):
        await open_keyring(path, store)
    assert not path.exists()
