"""The engine's client when no engine answers."""

import gc
import socket
import warnings
from pathlib import Path

import pytest
from docker.errors import DockerException

from orchestrator.adapters.engine import connect


@pytest.mark.parametrize("left_by_a_killed_engine", [True, False])
def test_an_engine_that_does_not_answer_leaves_no_socket_open(
    tmp_path: Path, *, left_by_a_killed_engine: bool
) -> None:
    path = tmp_path / "docker.sock"
    if left_by_a_killed_engine:
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(path))

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(DockerException, match=r"no Docker engine answers at .*docker\.sock"):
            connect(f"unix://{path}", timeout_s=1)
        gc.collect()

    assert [str(each.message) for each in seen] == []
