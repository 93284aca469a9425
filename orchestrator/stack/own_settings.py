"""Settings that people keep for an installation in `<home>/settings.env`, one `NAME=value` a line.

Names are those of `docs/reference/settings.md`, with or without `SANDGATE_`. What makes it this
installation (ports, network, key files) is not theirs to set there.
"""

import re
from pathlib import Path

from orchestrator.stack.steps import StepFailed

FILE = "settings.env"
_LINE = re.compile(r"(?:SANDGATE_)?([A-Z][A-Z0-9_]*)\s*=\s*(.*)")


def own_settings(home: Path) -> dict[str, str]:
    """What the file says, by name without `SANDGATE_`; nothing when there is none.

    Raises: StepFailed that names the line.
    """
    file = home / FILE
    if not file.exists():
        return {}
    found: dict[str, str] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        setting = _LINE.fullmatch(text)
        if setting is None:
            raise StepFailed(
                f"{file} can't be read",
                why=f"line {number} is no `NAME=value`",
                what_to_do="See docs/reference/settings.md for the names.",
            )
        found[setting[1]] = setting[2]
    return found
