"""Key files: made once, whole, for their owner only."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from orchestrator.stack.keys import keep, make_key


def test_a_key_is_random_stays_and_is_its_owners(tmp_path: Path) -> None:
    first = make_key(tmp_path / "api.token").read_text()
    assert len(first) >= 43
    assert make_key(tmp_path / "api.token").read_text() == first
    assert make_key(tmp_path / "other.token").read_text() != first
    assert stat.S_IMODE((tmp_path / "api.token").stat().st_mode) == 0o600


def test_files_of_one_stem_do_not_meet_each_other(tmp_path: Path) -> None:
    password, credential = make_key(tmp_path / "githost.password"), tmp_path / "githost.credential"
    keep(credential, f"sandgate:{password.read_text()}")
    assert credential.read_text() == f"sandgate:{password.read_text()}"


def test_many_who_make_it_at_once_get_the_same_and_leave_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        texts = set(pool.map(lambda _: make_key(tmp_path / "a.key").read_text(), range(64)))
    assert len(texts) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.key"]
