"""Tokens and keys that their issuers gave a form of their own [pure].

The forms are those that the issuers describe. One matches as soon as enough of it is there: what comes
behind makes no difference.
"""

import re

from entrance.git.checks.scanners.kinds import SHORTEST, Kind, bits_a_letter, by_chance

_BITS_OF_HEX = 4.0
_END = rb"(?:[^A-Za-z0-9_-]|\z)"


def _more_than_hex(value: bytes) -> bool:
    """Whether it is more of a mixture than a hash is."""
    return by_chance(value) and bits_a_letter(value) > _BITS_OF_HEX


def _tells(begins: bytes) -> bool:
    """Whether so few letters tell enough where no border of a word is seen, as inside of base64."""
    return len(begins) >= SHORTEST and not (len(begins) == SHORTEST and begins.isalnum())


def _token(who: str, begins: str, rest: str, length: int, *, ends: bool = False) -> Kind:
    """A token that begins so, and goes on so for `length` bytes."""
    body = begins.encode() + rest.encode()
    pattern = rb"(?P<value>" + body + rb")" + (_END if ends else b"")
    literal = begins.replace("\\", "").encode()
    return Kind(who, pattern, literal if _tells(literal) else b"", len(literal) + length)


TOKENS: tuple[Kind, ...] = (
    *(
        _token("an access key of AWS", begins, "[A-Z2-7]{16}", 16, ends=True)
        for begins in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    *(_token("a token of GitHub", f"gh{kind}_", "[A-Za-z0-9]{36}", 36) for kind in "pousr"),
    _token("a token of GitHub", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", 82),
    *(
        _token("a token of GitLab", f"gl{kind}-", "[A-Za-z0-9_-]{20}", 20)
        for kind in ("pat", "ptt", "rt", "dt", "cbt", "oas", "soat", "agent", "ft", "imt", "ffct")
    ),
    _token("a token of GitLab", "GR1348941", "[A-Za-z0-9_-]{20}", 20),
    _token("a token of Sandgate", "sgr_", "[A-Za-z0-9_-]{43}", 43, ends=True),
    *(_token("a token of Slack", f"xox{kind}-", "[A-Za-z0-9-]{24}", 24) for kind in "abeoprs"),
    _token("a token of Slack", "xapp-", "[0-9]-[A-Z0-9]{8,14}-[0-9]{8,14}-[a-f0-9]{32}", 60),
    _token(
        "a webhook of Slack",
        "hooks\\.slack\\.com/",
        "(?:services|workflows|triggers)/[A-Z0-9]{8,14}/[A-Z0-9]{8,14}/[A-Za-z0-9]{18}",
        50,
    ),
    _token(
        "a webhook of Discord", "discord\\.com/api/webhooks/", "[0-9]{17,20}/[A-Za-z0-9_-]{60}", 80
    ),
    _token("a key of Anthropic", "sk-ant-", "[a-z]{3,5}[0-9]{2}-[A-Za-z0-9_-]{60}", 66),
    *(
        _token("a key of OpenAI", f"sk-{kind}-", "[A-Za-z0-9_-]{40}", 40)
        for kind in ("proj", "svcacct", "admin")
    ),
    _token("a key of OpenAI", "sk-", "[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}", 48),
    _token("a key of OpenRouter", "sk-or-v1-", "[0-9a-f]{64}", 64),
    _token("a key of Google", "AIza", "[A-Za-z0-9_-]{35}", 35, ends=True),
    _token("a key of Google", "GOCSPX-", "[A-Za-z0-9_-]{28}", 28),
    _token("a key of Google", "ya29\\.", "[A-Za-z0-9_-]{60}", 60),
    *(_token("a key of Stripe", f"{kind}_live_", "[A-Za-z0-9]{24}", 24) for kind in ("sk", "rk")),
    _token("a key of Stripe", "whsec_", "[A-Za-z0-9+/]{32}", 32),
    _token("a token of npm", "npm_", "[A-Za-z0-9]{36}", 36),
    _token("a token of PyPI", "pypi-AgE", "[A-Za-z0-9_-]{60}", 60),
    _token("a token of RubyGems", "rubygems_", "[0-9a-f]{48}", 48),
    _token("a token of crates.io", "cio", "[A-Za-z0-9]{32}", 32, ends=True),
    _token("a key of NuGet", "oy2", "[a-z0-9]{43}", 43, ends=True),
    _token("a token of Docker", "dckr_pat_", "[A-Za-z0-9_-]{27}", 27),
    _token("a token of Docker", "dckr_oat_", "[A-Za-z0-9_-]{32}", 32),
    _token("a token of Hugging Face", "hf_", "[A-Za-z]{34}", 34, ends=True),
    _token("a key of Replicate", "r8_", "[A-Za-z0-9]{37}", 37, ends=True),
    _token("a key of Groq", "gsk_", "[A-Za-z0-9]{52}", 52),
    _token("a key of xAI", "xai-", "[A-Za-z0-9]{80}", 80),
    _token("a key of Perplexity", "pplx-", "[A-Za-z0-9]{48}", 48),
    _token("a key of SendGrid", "SG\\.", "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}", 66),
    _token("a key of Brevo", "xkeysib-", "[0-9a-f]{64}-[A-Za-z0-9]{16}", 81),
    *(_token("a token of DigitalOcean", f"do{kind}_v1_", "[0-9a-f]{64}", 64) for kind in "opr"),
    *(
        _token("a token of Shopify", f"shp{kind}_", "[0-9a-fA-F]{32}", 32)
        for kind in ("at", "ca", "pa", "ss")
    ),
    _token("a token of Square", "sq0atp-", "[A-Za-z0-9_-]{22}", 22),
    _token("a token of Square", "sq0csp-", "[A-Za-z0-9_-]{43}", 43),
    Kind("a token of Telegram", rb"(?P<value>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})" + _END),
    Kind(
        "a key of Azure storage", rb"AccountKey=(?P<value>[A-Za-z0-9+/]{86}==)", b"AccountKey=", 99
    ),
    Kind("a client secret of Azure", rb"(?P<value>[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31})"),
    *(_token("a token of Vault", f"hv{kind}\\.", "[A-Za-z0-9_-]{90}", 90) for kind in "bs"),
    Kind("a token of Terraform", rb"(?P<value>[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60})"),
    *(
        _token("a token of Doppler", f"dp\\.{kind}\\.", "[A-Za-z0-9]{40}", 40)
        for kind in ("pt", "ct", "sa", "scim", "audit")
    ),
    _token("a token of Databricks", "dapi", "[0-9a-f]{32}", 32, ends=True),
    _token("a token of Grafana", "glsa_", "[A-Za-z0-9]{32}_[0-9a-f]{8}", 41),
    _token("a token of Grafana", "glc_", "[A-Za-z0-9+/]{60}", 60),
    _token("a key of New Relic", "NRAK-", "[A-Z0-9]{27}", 27),
    _token("a token of Dynatrace", "dt0c01\\.", "[A-Z2-7]{24}\\.[A-Z2-7]{64}", 89),
    *(_token("a token of Sentry", f"sntry{kind}_", "[A-Za-z0-9+/=_-]{60}", 60) for kind in "su"),
    _token("a key of Linear", "lin_api_", "[A-Za-z0-9]{40}", 40),
    _token("a token of Notion", "ntn_", "[0-9]{11}[A-Za-z0-9]{35}", 46),
    _token("a token of Atlassian", "ATATT3xFfGF0", "[A-Za-z0-9_=-]{60}", 60),
    _token("a token of Atlassian", "ATCTT3xFfGN0", "[A-Za-z0-9_=-]{60}", 60),
    _token("a token of Bitbucket", "ATBB", "[A-Za-z0-9]{32}", 32, ends=True),
    _token("a key of Postman", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}", 59),
    _token("a key of Heroku", "HRKU-AA", "[A-Za-z0-9_-]{58}", 58),
    _token("a token of Pulumi", "pul-", "[0-9a-f]{40}", 40, ends=True),
    *(
        _token("a token of PlanetScale", f"pscale_{kind}_", "[A-Za-z0-9_.-]{32}", 32)
        for kind in ("tkn", "pw", "oauth")
    ),
    _token("a token of Supabase", "sbp_", "[0-9a-f]{40}", 40, ends=True),
    _token("a key of Tailscale", "tskey-", "[a-z]{3,8}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20}", 40),
    _token("a token of 1Password", "ops_eyJ", "[A-Za-z0-9+/=_-]{100}", 100),
    _token("an access key of Alibaba Cloud", "LTAI", "[A-Za-z0-9]{20}", 20, ends=True),
    _token("an access key of Tencent Cloud", "AKID", "[A-Za-z0-9]{32}", 32, ends=True),
    _token("a key of Artifactory", "AKCp", "[0-9][A-Za-z0-9]{68}", 69),
    _token("a key of Google", "1//0", "[A-Za-z0-9_-]{60}", 60),
    _token("a key of NVIDIA", "nvapi-", "[A-Za-z0-9_-]{64}", 64),
    _token("a key of LangSmith", "lsv2_", "(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", 46),
    _token("a key of Langfuse", "sk-lf-", "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
    _token("a key of Tavily", "tvly-", "[A-Za-z0-9-]{32}", 32, ends=True),
    _token("a key of Cerebras", "csk-", "[a-z0-9]{48}", 48),
    _token("a key of ElevenLabs", "sk_", "[0-9a-f]{48}", 48, ends=True),
    _token("a token of Figma", "figd_", "[A-Za-z0-9_-]{40}", 40),
    _token("a token of Contentful", "CFPAT-", "[A-Za-z0-9_-]{43}", 43),
    _token("a token of CircleCI", "CCIPAT_", "[A-Za-z0-9]{22}_[0-9a-f]{40}", 63),
    _token("a token of Buildkite", "bkua_", "[0-9a-f]{40}", 40),
    _token("a token of Netlify", "nfp_", "[A-Za-z0-9]{36}", 36),
    _token("a token of Mapbox", "sk\\.eyJ", "[A-Za-z0-9_-]{60}", 60),
    _token("a token of Clojars", "CLOJARS_", "[a-z0-9]{60}", 60),
    Kind("a token of Airtable", rb"(?P<value>pat[A-Za-z0-9]{14}\.[0-9a-f]{64})"),
    Kind(
        "a key of an Azure service",
        rb"SharedAccessKey=(?P<value>[A-Za-z0-9+/]{43}=)",
        b"SharedAccessKey=",
        60,
    ),
    Kind(
        "a secret key of AWS",
        rb"aws.{0,30}(?:secret|sk|key).{0,20}[\"'=:\s](?P<value>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
        flags=re.IGNORECASE,
        believed=_more_than_hex,
    ),
    _token("a secret key of age", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}", 58),
)
