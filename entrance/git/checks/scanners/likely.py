"""What looks like a secret, and often is none [pure]. It is held for a person, who mustn't be asked daily."""

import base64
import json
import re

from entrance.git.checks.scanners.kinds import Kind, bits_a_letter, by_chance

_NAME = (
    rb"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    rb"|auth[_-]?key|credentials?)"
)
_LEAST_BITS = 3.0
_NO_VALUE = re.compile(
    rb"[$%@#]?[{(<\[]|.*(?:[$][{(]|\{\{|[)}>\]]$)|[./~]|.*://|[A-Za-z_]+$|[a-z0-9]+(?:[-_.:/][a-z0-9]+)+$"
    rb"|[A-Z0-9]+(?:_[A-Z0-9]+)+$|.*(?:test|fake|dummy|sample|passw|secret|token|your|foo|bar)",
    re.IGNORECASE | re.DOTALL,
)
"""Names, paths, placeholders of templates, calls, and what people make up."""
_NOWHERE = re.compile(
    rb"@(?:localhost|127\.|0\.0\.0\.0|\[::1\]|(?:[^/\s]+\.)?(?:example|test|invalid|localhost)\b"
    rb"|(?:[^/\s]*\.)?example\.(?:com|org|net))",
    re.IGNORECASE,
)


def _set(value: bytes) -> bool:
    """Whether somebody's true password can stand there: a mixture, and no word, name or type."""
    digits, odd = re.findall(rb"[0-9]", value), re.search(rb"[^A-Za-z0-9_]", value)
    return (
        bool(re.search(rb"[A-Za-z]", value))
        and (len(digits) > 1 or (len(digits) == 1 and odd is not None))
        and not _NO_VALUE.match(value)
        and by_chance(value)
        and bits_a_letter(value) >= _LEAST_BITS
    )


def _unwrapped(value: bytes) -> bytes:
    """What base64 says; nothing if it isn't any."""
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        return b""


def _login(value: bytes) -> bool:
    """Whether a password of a URL is one: `value` is `user:password@host`."""
    password = value.partition(b":")[2].rpartition(b"@")[0]
    return (
        not _NOWHERE.search(value)
        and not _NO_VALUE.match(password)
        and len(set(password)) >= 5  # noqa: PLR2004 - `xxxx`, `1111`
        and not re.search(rb"[%$<>{}*]", password)
    )


def _signed(value: bytes) -> bool:
    """Whether a JWT's head is one."""
    head = value.partition(b".")[0]
    try:
        said = json.loads(base64.urlsafe_b64decode(head + b"=" * (-len(head) % 4)))
    except ValueError:
        return False
    return isinstance(said, dict) and "alg" in said


LIKELY_KINDS: tuple[Kind, ...] = (
    Kind(
        "a password or key in a setting",
        _NAME
        + rb"[\w.-]{0,20}[\"'\]]{0,2}\s{0,4}(?::=|=>|[:=])\s{0,4}[\"'`](?P<value>[^\"'`\s]{8,128})[\"'`]",
        sure=False,
        flags=re.IGNORECASE,
        believed=_set,
    ),
    Kind(
        "a password or key in a setting",
        rb"^[ \t]{0,20}(?:export[ \t]{1,4}|-[ \t]{1,4})?[\w.-]{0,40}"
        + _NAME
        + rb"[\w.-]{0,20}[ \t]{0,4}[=:][ \t]{0,4}(?P<value>[^\s\"'`$<{(#,;]{12,128})[ \t]{0,4}(?:[\r\n]|\z)",
        sure=False,
        flags=re.IGNORECASE | re.MULTILINE,
        believed=_set,
    ),
    Kind(
        "a URL with a password",
        rb"[a-z][a-z0-9+.-]{1,20}://(?P<value>[^\s/:@\"'<>]{0,64}:[^\s/:@\"'<>]{3,128}@[A-Za-z0-9.:\[\]-]{1,64})(?:[^A-Za-z0-9.:\[\]-]|\z)",
        sure=False,
        flags=re.IGNORECASE,
        believed=_login,
    ),
    Kind(
        "a JSON web token",
        rb"(?P<value>eyJ[A-Za-z0-9_-]{10,200}\.eyJ[A-Za-z0-9_-]{10,600}\.[A-Za-z0-9_-]{16})",
        sure=False,
        believed=_signed,
    ),
    Kind(
        "a login of npm",
        rb":_(?:authToken|auth|password)[ \t]{0,4}=[ \t]{0,4}"
        rb"(?P<value>[A-Za-z0-9+/=_-]{16,128})(?:[^A-Za-z0-9+/=_-]|\z)",
        sure=False,
    ),
    Kind(
        "a login of netrc",
        rb"machine\s{1,8}[^\s]{1,99}\s{1,8}login\s{1,8}[^\s]{1,99}\s{1,8}password\s{1,8}"
        rb"(?P<value>[^\s]{6,128})(?:\s|\z)",
        sure=False,
        believed=lambda value: not _NO_VALUE.match(value),
    ),
    Kind(
        "a login of Docker",
        rb"\"auth\"\s{0,8}:\s{0,8}\"(?P<value>[A-Za-z0-9+/]{12,200}={0,2})\"",
        sure=False,
        believed=lambda value: b":" in _unwrapped(value),
    ),
    Kind(
        "an Authorization header",
        rb"authorization[\"']?\s{0,4}[:=,]\s{0,4}[\"'f]{0,2}(?:bearer|basic|token)\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{16,300})(?:[^A-Za-z0-9._~+/=-]|\z)",
        sure=False,
        flags=re.IGNORECASE,
        believed=_set,
    ),
    Kind("a key of DeepSeek", rb"(?P<value>sk-[0-9a-f]{32})(?:[^A-Za-z0-9]|\z)", sure=False),
    Kind("a key of Twilio", rb"(?P<value>SK[0-9a-f]{32})(?:[^A-Za-z0-9]|\z)", sure=False),
    Kind(
        "a key of Mailchimp",
        rb"(?P<value>[0-9a-f]{32}-us[0-9]{1,2})(?:[^A-Za-z0-9]|\z)",
        sure=False,
    ),
    Kind("a key of Mailgun", rb"(?P<value>key-[0-9a-f]{32})(?:[^A-Za-z0-9]|\z)", sure=False),
    Kind(
        "a token of Discord",
        rb"(?P<value>[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27})",
        sure=False,
    ),
)
