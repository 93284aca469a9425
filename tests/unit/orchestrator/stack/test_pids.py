"""Whose a process is, is read from where it can't be made up."""

from pathlib import Path

from orchestrator.stack.pids import mark, marked

OURS, A_CONTAINERS = "pid:[4026531836]", "pid:[4026532999]"
FILE = Path("/srv/home/run/polarion.pid")


def process(proc: Path, pid: int, environment: str, namespace: str = OURS) -> None:
    folder = proc / str(pid)
    (folder / "ns").mkdir(parents=True)
    (folder / "ns" / "pid").symlink_to(namespace)
    (folder / "environ").write_text(environment)


def test_a_mark_names_the_pid_file_and_nothing_else_is_taken_for_one(tmp_path: Path) -> None:
    ((name, value),) = mark(FILE).items()
    carried = f"{name}={value}"
    (tmp_path / "self" / "ns").mkdir(parents=True)
    (tmp_path / "self" / "ns" / "pid").symlink_to(OURS)
    process(tmp_path, 11, f"PATH=/bin\0{carried}\0")
    process(tmp_path, 12, f"OTHER={value}\0X{carried}\0PATH=/bin\0")
    process(tmp_path, 13, f"{carried}\0", namespace=A_CONTAINERS)
    process(tmp_path, 14, "")
    (tmp_path / "15").mkdir()  # it ended while we looked
    assert marked(tmp_path) == {FILE: [11]}
