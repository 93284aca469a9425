"""Secrets of all kinds, made up by chance for each test: none stands in a file of this repository."""

import base64
import random
import re
import string
from collections.abc import Callable, Mapping

LETTERS = string.ascii_letters + string.digits
SAFE = LETTERS + "_-"
HEX = "0123456789abcdef"
BASE64 = LETTERS + "+/"
UPPER = string.ascii_uppercase + "234567"

Chance = random.Random


def chance_of(seed: int) -> Chance:
    """The same each time."""
    return Chance(seed)


def of(chance: Chance, letters: str, length: int) -> str:
    return "".join(chance.choices(letters, k=length))


def _pem(chance: Chance, head: str) -> str:
    lines = [of(chance, BASE64, 64) for _ in range(4)]
    return "\n".join((f"-----BEGIN {head}-----", *lines, f"-----END {head}-----"))


TOKENS: Mapping[str, tuple[Callable[[Chance], str], ...]] = {
    "an access key of AWS": (
        lambda chance: "AKIA" + of(chance, UPPER, 16),
        lambda chance: "ASIA" + of(chance, UPPER, 16),
    ),
    "a token of GitHub": (
        lambda chance: "ghp_" + of(chance, LETTERS, 36),
        lambda chance: "ghs_" + of(chance, LETTERS, 36),
        lambda chance: f"github_pat_{of(chance, LETTERS, 22)}_{of(chance, LETTERS, 59)}",
    ),
    "a token of GitLab": (
        lambda chance: "glpat-" + of(chance, SAFE, 20),
        lambda chance: "gldt-" + of(chance, SAFE, 20),
    ),
    "a token of Sandgate": (lambda chance: "sgr_" + of(chance, SAFE, 43),),
    "a token of Slack": (
        lambda chance: f"xoxb-{of(chance, '0123456789', 12)}-{of(chance, LETTERS, 24)}",
    ),
    "a key of Anthropic": (lambda chance: f"sk-ant-api03-{of(chance, SAFE, 93)}AA",),
    "a key of OpenAI": (
        lambda chance: "sk-proj-" + of(chance, SAFE, 90),
        lambda chance: f"sk-{of(chance, LETTERS, 20)}T3BlbkFJ{of(chance, LETTERS, 20)}",
    ),
    "a key of Google": (lambda chance: "AIza" + of(chance, SAFE, 35),),
    "a key of Stripe": (lambda chance: "sk_live_" + of(chance, LETTERS, 24),),
    "a token of npm": (lambda chance: "npm_" + of(chance, LETTERS, 36),),
    "a token of PyPI": (lambda chance: "pypi-AgEIcHlwaS5vcmc" + of(chance, SAFE, 120),),
    "a token of Hugging Face": (lambda chance: "hf_" + of(chance, string.ascii_letters, 34),),
    "a token of Databricks": (lambda chance: "dapi" + of(chance, HEX, 32),),
    "a key of Azure storage": (lambda chance: f"AccountKey={of(chance, BASE64, 86)}==",),
}
KEYS: tuple[Callable[[Chance], str], ...] = (
    lambda chance: _pem(chance, "PRIVATE KEY"),
    lambda chance: _pem(chance, "RSA PRIVATE KEY"),
    lambda chance: _pem(chance, "OPENSSH PRIVATE KEY"),
    lambda chance: _pem(chance, "PGP PRIVATE KEY BLOCK"),
    lambda chance: _pem(chance, "PRIVATE KEY").replace("\n", "\r\n"),
    lambda chance: _pem(chance, "PRIVATE KEY").replace("\n", "\\n"),
    lambda chance: _pem(chance, "PRIVATE KEY").replace("\n", '\\n" +\n    "'),
    lambda chance: re.sub(
        "KEY-----\n",
        "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
        _pem(chance, "EC PRIVATE KEY"),
        count=1,
    ),
    lambda chance: "MC4CAQAwBQYDK2VwBCIEI" + of(chance, BASE64, 43),
)
LIKELY: Mapping[str, tuple[Callable[[Chance], str], ...]] = {
    "a password or key in a setting": (
        lambda chance: f'db_password = "{of(chance, LETTERS, 14)}7!4"',
        lambda chance: f"  'api-key': '{of(chance, LETTERS, 20)}1a9',",
        lambda chance: f"\nexport APP_SECRET_KEY={of(chance, LETTERS, 24)}4z8\n",
    ),
    "a URL with a password": (
        lambda chance: f"postgresql://app:{of(chance, LETTERS, 14)}4a@db.corp.internal/app",
    ),
    "a login of Docker": (
        lambda chance: (
            '{"auths": {"hub.example": {"auth": "'
            + base64.b64encode(f"joe:{of(chance, LETTERS, 20)}".encode()).decode()
            + '"}}}'
        ),
    ),
    "a login of netrc": (
        lambda chance: f"machine git.example login joe password {of(chance, LETTERS, 16)}9",
    ),
    "a login of npm": (lambda chance: f"//registry.example/:_authToken={of(chance, HEX, 36)}",),
    "an Authorization header": (
        lambda chance: f'curl -H "Authorization: Bearer {of(chance, LETTERS, 30)}4a1"',
    ),
    "a JSON web token": (
        lambda chance: (
            base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
            + ".eyJ"
            + of(chance, SAFE, 40)
            + "."
            + of(chance, SAFE, 43)
        ),
    ),
}
EVERY: tuple[tuple[str, Callable[[Chance], str]], ...] = (
    *((what, make) for what, makes in TOKENS.items() for make in makes),
    *(("a private key", make) for make in KEYS),
    *((what, make) for what, makes in LIKELY.items() for make in makes),
)
SURE = tuple((what, make) for what, make in EVERY if what not in LIKELY)
