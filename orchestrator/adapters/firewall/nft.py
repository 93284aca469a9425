"""Runs nft, which takes a few milliseconds; its troubles become `Unavailable`, in its own words."""

import subprocess

from entrance.errors import Unavailable

NFT_TIMEOUT_S = 10.0


def nft(*arguments: str, stdin: str = "") -> str:
    """Run nft and return what it printed. Blocking. Raises: Unavailable."""
    try:
        done = subprocess.run(
            ["nft", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=NFT_TIMEOUT_S,
        )
    except FileNotFoundError as error:
        raise Unavailable("nft is missing: install the package nftables") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"nft did not answer within {NFT_TIMEOUT_S:.0f} s") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        why = said[0] if said else f"exit code {done.returncode}"
        hint = " (nft needs root)" if "not permitted" in why else ""
        raise Unavailable(f"nft: {why}{hint}")
    return done.stdout
