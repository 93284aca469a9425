import shutil
from pathlib import Path

import pytest

from orchestrator.stack.installation import FILE, Installation, name_of
from orchestrator.stack.steps import StepFailed


def test_an_installation_is_made_once_and_stays_as_it_is(tmp_path: Path) -> None:
    made = Installation.open(tmp_path / "home", create=True)
    assert Installation.open(tmp_path / "home", create=True) == made
    assert Installation.open(tmp_path / "home", create=False) == made


def test_two_homes_share_neither_name_nor_bridge_nor_subnet(tmp_path: Path) -> None:
    one = Installation.open(tmp_path / "one", create=True)
    two = Installation.open(tmp_path / "two", create=True)
    assert one.name != two.name
    assert one.bridge != two.bridge
    assert not one.subnet.overlaps(two.subnet)


def test_its_bridge_has_a_name_that_the_kernel_takes(tmp_path: Path) -> None:
    assert len(Installation.open(tmp_path, create=True).bridge) <= 15


def test_its_name_comes_from_where_its_home_is() -> None:
    name = name_of(Path("/srv/sandgate"))
    assert name == name_of(Path("/srv/sandgate"))
    assert name != name_of(Path("/srv/other"))
    assert name.startswith("sg")
    assert len(name) == 8


def test_nobody_else_may_look_into_its_keys_and_data(tmp_path: Path) -> None:
    here = Installation.open(tmp_path, create=True)
    for folder in (here.keys, here.data("pocketbase"), here.data("egress")):
        assert folder.stat().st_mode & 0o077 == 0


def test_without_create_a_missing_installation_is_told(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="There is no installation here"):
        Installation.open(tmp_path / "home", create=False)
    assert not (tmp_path / "home").exists()


def test_a_copied_home_is_no_second_installation(tmp_path: Path) -> None:
    Installation.open(tmp_path / "home", create=True)
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    with pytest.raises(StepFailed, match="moved or copied"):
        Installation.open(tmp_path / "copy", create=True)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"name": 1', "Invalid JSON"),
        (b"", "Invalid JSON"),
        (b"\xff\xfe\x00", "Invalid JSON"),
        (
            b'{"home": "/h", "name": "n", "subnet": "10.0.0.0/24", "ports": {"runner": "a"}}',
            "ports",
        ),
    ],
)
def test_an_unreadable_file_is_told_and_kept(tmp_path: Path, content: bytes, why: str) -> None:
    """In a sentence, and nothing of the library's that found it."""
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StepFailed, match=FILE) as failed:
        Installation.open(tmp_path, create=True)
    assert failed.value.why.startswith(f"{tmp_path / FILE}: {why}")
    assert "pydantic" not in str(failed.value)
    assert (tmp_path / FILE).read_bytes() == content


def test_a_half_written_file_of_an_interrupted_try_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "installation.part").write_text('{"na')
    assert Installation.open(tmp_path, create=True).name == name_of(tmp_path.resolve())


def test_one_command_at_a_time_changes_it(tmp_path: Path) -> None:
    here = Installation.open(tmp_path, create=True)
    with here.only_one(), pytest.raises(StepFailed, match="Another"), here.only_one():
        pass
    with here.only_one():
        pass
