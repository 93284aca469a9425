"""What runs in a sandbox, as one file: a zip of plain modules, which Python runs as it is."""

import io
import zipfile
from functools import lru_cache
from pathlib import Path

PACKAGE = "orchestrator/adapters/posture/inside"
INSIDE = Path(__file__).with_name("inside")
MAIN = "from orchestrator.adapters.posture.inside.tries import main\n\nmain()\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)


@lru_cache(maxsize=1)
def script() -> bytes:
    """The file. The same modules always make the same bytes."""
    folders = PACKAGE.split("/")
    texts = {"/".join((*folders[:depth], "__init__.py")): "" for depth in range(1, len(folders))}
    texts |= {f"{PACKAGE}/{file.name}": file.read_text() for file in sorted(INSIDE.glob("*.py"))}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**texts, "__main__.py": MAIN}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
    return packed.getvalue()
