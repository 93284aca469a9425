"""Runs nft, which takes a few milliseconds; its troubles become `Unavailable`, in its own words."""

import subprocess
from collections.abc import Sequence

from entrance.errors import Unavailable

NFT_TIMEOUT_S = 10.0


_LIST_WHAT_IS_MADE = 'nft -f - && nft -j list table inet "$1"'


def nft(*arguments: str, stdin: str = "") -> str:
    """Run nft and return what it printed. Blocking. Raises: Unavailable."""
    return _run(["nft", *arguments], stdin)


def listing(table: str) -> str | None:
    """The inet table, as `nft -j` lists it; None when there is none. Blocking. Raises: Unavailable."""
    try:
        return nft("-j", "list", "table", "inet", table)
    except Unavailable as error:
        if "No such file or directory" in str(error):
            return None
        raise


def tried(text: str, table: str) -> str:
    """Make a table in a network of its own that is gone at once; its listing, as `nft -j` prints it.

    Blocking. Raises: Unavailable.
    """
    return _run(["unshare", "--net", "sh", "-c", _LIST_WHAT_IS_MADE, "sh", table], text)


def _run(command: Sequence[str], stdin: str) -> str:
    try:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=NFT_TIMEOUT_S,
        )
    except FileNotFoundError as error:
        package = "nftables" if command[0] == "nft" else "util-linux"
        raise Unavailable(f"{command[0]} is missing: install the package {package}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"nft did not answer within {NFT_TIMEOUT_S:.0f} s") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        why = said[0] if said else f"exit code {done.returncode}"
        hint = " (nft needs root)" if "not permitted" in why else ""
        raise Unavailable(f"nft: {why}{hint}")
    return done.stdout
