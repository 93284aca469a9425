"""Keys of this installation's own, each for one purpose alone, made from the vault's key file."""

import hashlib

from orchestrator.settings import Settings


def execd_key_of(settings: Settings) -> bytes:
    """What the access tokens of sandboxes' execds are derived from."""
    return _made_for(settings, b"execd tokens")


def honey_key_of(settings: Settings) -> bytes:
    """What honeytokens are derived from; empty when sandboxes get none."""
    return _made_for(settings, b"honeytokens") if settings.honeytokens.enabled else b""


def _made_for(settings: Settings, purpose: bytes) -> bytes:
    return hashlib.sha256(purpose + settings.vault_key_file.read_bytes()).digest()
