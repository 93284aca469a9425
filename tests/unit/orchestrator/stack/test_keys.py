"""Key files: made once, whole, for their owner only."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from entrance.log.signing import signer_from, trust_from
from orchestrator.stack.keys import keep, make_key, make_log_key
from orchestrator.stack.steps import StepFailed


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


def test_the_logs_key_is_made_once_with_its_public_one_beside_it(tmp_path: Path) -> None:
    path = make_log_key(tmp_path / "log.key")
    key_id = signer_from(path).trust.key_id
    assert trust_from(tmp_path / "log.pub").key_id == key_id
    assert path.stat().st_mode & 0o777 == 0o600
    (tmp_path / "log.pub").unlink()
    assert signer_from(make_log_key(path)).trust.key_id == key_id
    assert trust_from(tmp_path / "log.pub").key_id == key_id


@pytest.mark.parametrize("spoil", ["gone", "another", "no key"])
def test_a_log_key_that_is_not_the_one_is_not_replaced_in_silence(
    tmp_path: Path, spoil: str
) -> None:
    path = make_log_key(tmp_path / "log.key")
    path.unlink()
    if spoil == "another":
        make_log_key(tmp_path / "other.key").rename(path)
    elif spoil == "no key":
        path.write_text("nothing of the kind")
    with pytest.raises(StepFailed, match="move the log's folder"):
        make_log_key(path)
