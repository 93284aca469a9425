"""Where attestations are kept."""

from pathlib import Path

import pytest

from entrance.attestation.store import INDEX, Attestations

NAME, LATER = f"{3:010d}-{'a' * 16}.json", f"{9:010d}-{'b' * 16}.json"
ONE, TWO = "1" * 40, "2" * 40


@pytest.fixture
def store(tmp_path: Path) -> Attestations:
    return Attestations(tmp_path / "attestations")


def names(found: list[Path]) -> list[str]:
    return [path.name for path in found]


def test_an_attestation_is_found_by_its_commits_and_its_run(store: Attestations) -> None:
    store.keep(LATER, b"later", "run2", [TWO])
    store.keep(NAME, b"first", "run1", [ONE, TWO])
    assert names(store.of_commit(ONE)) == [NAME]
    assert names(store.of_commit(TWO)) == [NAME, LATER]
    assert names(store.of_run("run2")) == [LATER]
    assert store.of_commit(ONE)[0].read_bytes() == b"first"


def test_one_that_is_there_stays(store: Attestations) -> None:
    assert store.keep(NAME, b"first", "run1", [ONE]) == b"first"
    assert store.keep(NAME, b"second", "run1", [ONE]) == b"first"
    assert store.get(NAME) == b"first"
    assert names(store.of_commit(ONE)) == [NAME]


def test_nothing_is_found_where_nothing_is(store: Attestations) -> None:
    assert store.of_commit(ONE) == store.of_run("run1") == []
    assert store.get(NAME) is None
    assert store.get("../../etc/passwd") is None


def test_part_of_an_id_is_no_id(store: Attestations) -> None:
    store.keep(NAME, b"x", "run1", [ONE])
    assert store.of_commit("1" * 39) == store.of_commit("") == store.of_run("run") == []


def test_an_index_that_a_crash_tore_goes_on(store: Attestations, tmp_path: Path) -> None:
    store.keep(NAME, b"x", "run1", [ONE])
    with (tmp_path / "attestations" / INDEX).open("ab") as file:
        file.write(f"{TWO} run2 0000".encode())
    assert store.of_commit(TWO) == []
    store.keep(LATER, b"y", "run2", [TWO])
    assert names(store.of_commit(TWO)) == [LATER]


def test_only_its_owner_may_read_it(store: Attestations, tmp_path: Path) -> None:
    store.keep(NAME, b"x", "run1", [ONE])
    folder = tmp_path / "attestations"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
