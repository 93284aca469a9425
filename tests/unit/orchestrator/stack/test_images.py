from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.stack.content import copy_content
from orchestrator.stack.engine import Engine
from orchestrator.stack.image_recipes import KINDS
from orchestrator.stack.image_store import name_servers
from orchestrator.stack.images import IMAGES, ImageBuilder

NOWHERE = Engine(
    url="unix:///nowhere",
    version="0",
    cgroup_version="1",
    storage_driver="none",
    data_root=Path("/nowhere"),
    runtimes=(),
)
WITH_SANDBOX = {"sandbox-stdio", "sandbox", "sandbox-claude_code", "sandbox-codex"}


@pytest.fixture
def builder(tmp_path: Path) -> ImageBuilder:
    for name in ("packages.txt", "Dockerfile", "seccomp.json"):
        (tmp_path / "images" / "sandbox").mkdir(parents=True, exist_ok=True)
        copy_content(IMAGES / "sandbox" / name, tmp_path / "images" / "sandbox" / name)
    for name in ("execd", "harness"):
        copy_content(IMAGES / name, tmp_path / "images" / name)
    return ImageBuilder(
        engine=NOWHERE, name="sgtest", cache=tmp_path / "cache", source=tmp_path / "images"
    )


def changed(builder: ImageBuilder, before: dict[str, str]) -> set[str]:
    return {kind for kind in KINDS if builder.content(kind) != before[kind]}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param("sandbox/packages.txt", set(KINDS), id="everything stands on the base"),
        pytest.param(
            "sandbox/Dockerfile", WITH_SANDBOX, id="every harness's sandbox stands on ours"
        ),
        pytest.param(
            "harness/Dockerfile",
            WITH_SANDBOX - {"sandbox", "sandbox-stdio"},
            id="what only the harnesses' images are made with",
        ),
        pytest.param("execd/bootstrap.sh", {"execd"}, id="a file of execd"),
        pytest.param("sandbox/seccomp.json", set(), id="the server reads it, no image holds it"),
    ],
)
def test_an_image_is_built_anew_when_what_it_holds_has_changed(
    file: str, expected: set[str], builder: ImageBuilder
) -> None:
    before = {kind: builder.content(kind) for kind in KINDS}
    with (builder.source / file).open("a") as edited:
        edited.write("\nsl\n")
    assert changed(builder, before) == expected


def test_the_content_is_the_same_for_every_installation(builder: ImageBuilder) -> None:
    other = replace(builder, name="sgother", cache=Path("/elsewhere"))
    assert [other.content(kind) for kind in KINDS] == [builder.content(kind) for kind in KINDS]


def test_the_machines_name_servers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    assert name_servers(file) == []
    file.write_text("# nameserver 10.9.9.9\nnameserver 10.0.0.2\nsearch example\n")
    assert name_servers(file) == ["10.0.0.2"]
