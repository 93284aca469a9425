"""What pip runs instead of an archive's own build: it only reads the archive's PKG-INFO.

pip wants a source archive's metadata before it hands the archive out, and would run the project's
`setup.py` for it, on this machine. Copied as `setuptools/build_meta.py` into a folder on pip's
path, this module answers in its stead (PEP 517's hook, at the name that pip looks for when an
archive names no backend). It stands alone: nothing but the standard library may be imported here.
"""

import shutil
import sys
from email.parser import HeaderParser
from pathlib import Path

__legacy__ = sys.modules[__name__]


def get_requires_for_build_wheel(settings: object = None) -> list[str]:
    """Nothing is needed."""
    del settings
    return []


def prepare_metadata_for_build_wheel(folder: str, settings: object = None) -> str:
    """Put the metadata of the archive in the working directory into `folder`; its folder's name."""
    del settings
    info = HeaderParser().parsestr(Path("PKG-INFO").read_text(encoding="utf-8"))
    name = f"{info['Name']}-{info['Version']}.dist-info"
    target = Path(folder, name)
    target.mkdir()
    shutil.copyfile("PKG-INFO", target / "METADATA")
    return name
