"""The images, built for real; what a sandbox made from them can and can't do."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from orchestrator.adapters.opensandbox.blueprint import PROGRAM_LABELS, program_in
from orchestrator.ports.sandboxes import STDIO
from orchestrator.stack import engine
from orchestrator.stack.content import copy_content
from orchestrator.stack.engine import Engine
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS
from orchestrator.stack.image_recipes import OF_HARNESS
from orchestrator.stack.image_store import CONTENT_LABEL, ImageStore, run_once
from orchestrator.stack.images import IMAGES, ImageBuilder, ImageTags
from orchestrator.stack.installation import name_of
from orchestrator.stack.npm import client
from orchestrator.stack.steps import Step, StepFailed, Steps

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


def ensure(builder: ImageBuilder) -> tuple[ImageTags, str]:
    """Build; return the tags and what was shown."""
    console = Console(file=StringIO(), width=200)
    with Steps(console).step("Images") as step:
        tags = builder.ensure(step)
    assert isinstance(console.file, StringIO)
    return tags, console.file.getvalue()


@pytest.fixture(scope="module")
def docker() -> Engine:
    found = engine.find("")
    if found is None:
        pytest.skip("no Docker engine answers")
    return found


@pytest.fixture(scope="module")
def builder(docker: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageBuilder]:
    """A builder of an installation of the tests' own."""
    home = tmp_path_factory.mktemp("home")
    # A copy: an edit while the tests run would be other content, rightly built anew.
    copy_content(IMAGES, home / "images")
    made = ImageBuilder(
        engine=docker,
        name=name_of(home),
        cache=home / "cache",
        harnesses=(*HARNESS_PROGRAMS, STDIO),
        source=home / "images",
    )
    yield made
    with ImageStore.on(docker, made.name) as store:
        store.remove_all()


@pytest.fixture(scope="module")
def tags(builder: ImageBuilder) -> ImageTags:
    return ensure(builder)[0]


@pytest.fixture
def store(builder: ImageBuilder) -> Iterator[ImageStore]:
    with ImageStore.on(builder.engine, builder.name) as opened:
        yield opened


def in_sandbox(
    store: ImageStore, tags: ImageTags, script: str, harness: str = "native", **env: str
) -> str:
    """What a shell script says as the agent, without a network and without a task's mounts."""
    return run_once(
        store.client,
        tags.by_harness[harness],
        ["sh", "-c", script],
        environment={"TMPDIR": "/dev/shm"} | env,  # noqa: S108 - in a container
        cap_drop=["ALL"],
    )


def test_the_same_content_is_not_built_twice(builder: ImageBuilder, tags: ImageTags) -> None:
    again, shown = ensure(builder)
    assert again == tags
    assert shown.startswith("ok ")


def test_another_installation_tags_the_same_image_instead_of_building_it(
    builder: ImageBuilder, tags: ImageTags, store: ImageStore
) -> None:
    other = replace(builder, name="sg0e2e02")
    try:
        theirs, shown = ensure(other)
        assert shown.startswith("ok ")
        for harness, tag in tags.by_harness.items():
            assert len({_id(store, tag), _id(store, theirs.by_harness[harness])}) == 1
    finally:
        with ImageStore.on(other.engine, other.name) as others:
            removed = others.remove_all()
    assert {*theirs.by_harness.values(), theirs.execd} <= set(removed)
    for kind in OF_HARNESS.values():
        assert store.has(kind, builder.content(kind))


def test_an_image_names_no_installation_that_its_containers_would_inherit(
    store: ImageStore, tags: ImageTags
) -> None:
    for tag in (*tags.by_harness.values(), tags.execd):
        assert set(store.client.images.get(tag).labels) <= {CONTENT_LABEL, *PROGRAM_LABELS.values()}


def test_an_image_says_which_program_it_holds(store: ImageStore, tags: ImageTags) -> None:
    for harness, program in HARNESS_PROGRAMS.items():
        labels = store.client.images.get(tags.by_harness[harness]).labels
        assert program_in(labels) == {
            "name": harness,
            "version": program.version,
            "integrity": program.package.integrity,
        }
    assert program_in(store.client.images.get(tags.sandbox).labels)["name"] == "native"


def test_a_harness_adds_its_program_and_changes_nothing_else(
    store: ImageStore, tags: ImageTags
) -> None:
    below = store.client.images.get(tags.sandbox).attrs
    for harness in HARNESS_PROGRAMS:
        image = store.client.images.get(tags.by_harness[harness]).attrs
        layers = image["RootFS"]["Layers"]
        assert layers[: len(below["RootFS"]["Layers"])] == below["RootFS"]["Layers"]
        assert len(layers) <= len(below["RootFS"]["Layers"]) + 1
        for setting in ("User", "Env", "WorkingDir", "Entrypoint"):
            assert image["Config"][setting] == below["Config"][setting]


def test_what_an_upgrade_leaves_behind_is_removed(
    builder: ImageBuilder, tags: ImageTags, store: ImageStore, tmp_path: Path
) -> None:
    copy_content(builder.source, tmp_path / "images")
    older = replace(
        builder,
        name="sg0e2e03",
        cache=tmp_path / "cache",
        harnesses=(),
        source=tmp_path / "images",
    )
    (tmp_path / "empty.tar").write_bytes(b"\0" * 10240)
    with ImageStore.on(older.engine, older.name) as olders:
        try:
            old, _ = ensure(older)
            olders.import_tar("sandbox-codex", "01dc0de", tmp_path / "empty.tar")
            assert olders.has("sandbox-codex", older.content("sandbox-codex")), (
                "not wished, but now's"
            )
            with (tmp_path / "images" / "execd" / "bootstrap.sh").open("a") as script:
                script.write("# changed\n")
            new, _ = ensure(older)
            kept = {tag for tag in (old.execd, new.execd) if _exists(olders, tag)}
            assert kept == {new.execd}
            assert not _exists(olders, olders.tag("sandbox-codex", "01dc0de"))
            assert _exists(olders, olders.tag("sandbox-codex", older.content("sandbox-codex")))
        finally:
            olders.remove_all()
    assert _exists(store, tags.sandbox)


def _id(store: ImageStore, tag: str) -> str:
    return str(store.client.images.get(tag).id)


def _exists(store: ImageStore, tag: str) -> bool:
    return bool(store.client.images.list(filters={"reference": tag}))


def test_another_execd_image_is_used_as_it_is(builder: ImageBuilder, tags: ImageTags) -> None:
    assert ensure(replace(builder, execd_image="registry/execd:1"))[0] == ImageTags(
        tags.by_harness, execd="registry/execd:1"
    )


def test_a_base_that_does_not_run_is_removed_and_told(store: ImageStore, tmp_path: Path) -> None:
    (tmp_path / "empty.tar").write_bytes(b"\0" * 10240)
    store.import_tar("base", "00e2e", tmp_path / "empty.tar")
    tag = store.tag("base", "00e2e")
    with pytest.raises(StepFailed, match="does not run"):
        store.prove(tag, "git", "--version")
    assert not store.has("base", "00e2e")


def test_the_agent_is_nobody_special(store: ImageStore, tags: ImageTags) -> None:
    assert in_sandbox(store, tags, "id -u; id -G; echo $HOME; pwd").split() == [
        "10001",
        "10001",
        "/home/agent",
        "/workspace",
    ]


@pytest.mark.parametrize("harness", OF_HARNESS)
def test_nothing_is_writable_to_the_agent_before_its_mounts_come(
    harness: str, store: ImageStore, tags: ImageTags
) -> None:
    writable = "find / -xdev -writable -not -type l 2>/dev/null || :"
    assert in_sandbox(store, tags, writable, harness=harness) == ""


@pytest.mark.parametrize("harness", OF_HARNESS)
def test_no_file_raises_anyones_rights(harness: str, store: ImageStore, tags: ImageTags) -> None:
    rights = "find / -xdev -perm /6000 2>/dev/null || :"
    assert in_sandbox(store, tags, rights, harness=harness) == ""


def test_the_archives_addresses_stay_outside(store: ImageStore, tags: ImageTags) -> None:
    assert in_sandbox(store, tags, "cat /etc/apt/sources.list /etc/apt/sources.list.d/* || :") == ""


def test_an_agents_tools_are_there(store: ImageStore, tags: ImageTags) -> None:
    tools = "git python3 rg curl jq ps patch less make unzip file"
    missing = f"for tool in {tools}; do command -v $tool >/dev/null || echo $tool; done"
    assert in_sandbox(store, tags, missing) == ""
    assert in_sandbox(store, tags, "python3 -m pytest --version 2>&1").startswith("pytest ")


def test_what_the_sandbox_runs_is_compiled(store: ImageStore, tags: ImageTags) -> None:
    script = (
        "find /opt/sandgate /usr/lib/python3* -name '*.py' -path '*httpx2/__init__.py' "
        "-o -path '*/python3.*/argparse.py' | while read f; do "
        "ls $(dirname $f)/__pycache__/$(basename $f .py).*.pyc >/dev/null || echo $f; done"
    )
    assert in_sandbox(store, tags, script) == ""


ASK = "printf 'protocol=http\\nhost=%s\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill || :"


def test_git_shows_the_run_token_to_the_entrance(store: ImageStore, tags: ImageTags) -> None:
    says = in_sandbox(
        store,
        tags,
        ASK % "10.9.9.1:8080",
        SANDGATE_RUN_TOKEN="sgr_test",
        SANDGATE_ENTRANCE="http://10.9.9.1:8080",
    )
    assert says.splitlines()[-2:] == ["username=run", "password=sgr_test"]


@pytest.mark.parametrize("host", ["10.9.9.1:8081", "10.9.9.1:80801", "example.org"])
def test_git_shows_the_run_token_to_nobody_else(
    host: str, store: ImageStore, tags: ImageTags
) -> None:
    says = in_sandbox(
        store,
        tags,
        ASK % host,
        SANDGATE_RUN_TOKEN="sgr_test",
        SANDGATE_ENTRANCE="http://10.9.9.1:8080",
    )
    assert "sgr_test" not in says


def test_execds_image_holds_what_the_opensandbox_server_copies(
    store: ImageStore, tags: ImageTags
) -> None:
    container = store.client.containers.create(tags.execd, ["tail", "-f", "/dev/null"])
    try:
        container.start()
        for name in ("/execd", "/bootstrap.sh"):
            _, stat = container.get_archive(name)
            assert stat is not None
            assert stat["mode"] & 0o111 == 0o111
            assert stat["size"] > 0
        container.reload()
        assert container.status == "running"
    finally:
        container.remove(force=True)


def test_where_there_is_no_npm_one_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    npm = client(tmp_path, Step("Images", said.append))
    assert said == ["downloading npm itself, 61 MB: this machine has none"]
    done = subprocess.run(
        [*npm, "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.count(".") == 2
    assert client(tmp_path, Step("Images", said.append)) == npm
    assert len(said) == 1, "once is enough"
