"""What the bootstrap installs."""

import re
import tomllib

from orchestrator.stack.images import IMAGES

PROJECT = IMAGES.parent
LOCKS = [PROJECT / "requirements.lock", IMAGES / "sandbox" / "native" / "requirements.lock"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_pins_everything_that_the_project_names() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    pinned = re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", LOCKS[0].read_text(), re.MULTILINE)
    names = {normal(re.split(r"[<>=!~\[; ]", one, maxsplit=1)[0]) for one in named}
    assert names - {normal(name) for name in pinned} == set()


def test_every_pin_has_a_hash_and_no_lock_names_an_address() -> None:
    for lock in LOCKS:
        text = lock.read_text()
        pins = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
        assert pins
        assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []
        assert "://" not in text
