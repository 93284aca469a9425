"""Address and token must be of one sandbox."""

import base64
import hashlib

import pytest

from proxy.decision import Cause, Deny
from proxy.identity import identify
from proxy.rules import SandboxPolicy


def sandbox(address: str, token: str) -> SandboxPolicy:
    digest = hashlib.sha256(token.encode()).hexdigest()
    return SandboxPolicy(run=f"run of {address}", address=address, token_sha256=digest)


SANDBOXES = {one.address: one for one in (sandbox("10.0.0.2", "t2"), sandbox("10.0.0.3", "t3"))}


def basic(text: str, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_a_sandbox_is_known_by_its_address_and_its_token(scheme: str) -> None:
    found = identify("10.0.0.2", basic("run:t2", scheme), SANDBOXES)
    assert found == SANDBOXES["10.0.0.2"]


@pytest.mark.parametrize(
    "credentials",
    [
        *(None, "", "Basic", "Basic !", "Bearer t2", basic("t2"), basic("run:"), basic("root:t2")),
        *("Basic cnVuOnQy\x00", "Basic é", basic("run:t2", "Digest"), "Basic " + "A" * 9000),
    ],
)
def test_without_a_token_it_is_asked_for(credentials: str | None) -> None:
    found = identify("10.0.0.2", credentials, SANDBOXES)
    assert isinstance(found, Deny)
    assert found.cause is Cause.NO_IDENTITY


@pytest.mark.parametrize(
    ("address", "token"),
    [("10.0.0.2", "t3"), ("10.0.0.2", "x"), ("10.0.0.9", "t2"), ("127.0.0.1", "t2")],
)
def test_a_token_opens_nothing_from_elsewhere(address: str, token: str) -> None:
    found = identify(address, basic(f"run:{token}"), SANDBOXES)
    assert isinstance(found, Deny)
    assert found.cause is Cause.FOREIGN_IDENTITY
