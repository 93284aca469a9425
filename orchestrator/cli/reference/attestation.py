"""`docs/reference/attestation.md`: what is said of a push, and why a commit isn't vouched for [pure]."""

from collections.abc import Iterator, Mapping
from typing import Any

from entrance.attestation.envelope import TYPE
from entrance.attestation.refusals import REFUSALS
from entrance.attestation.statement import PREDICATE, STATEMENT, Push
from orchestrator.cli.reference.markdown import code, page, table

INTRO = f"""\
Each push that the host took has an attestation:
an [in-toto statement]({STATEMENT}), signed with the installation's Ed25519 key (`<home>/keys/log.pub`)
in a [DSSE](https://github.com/secure-systems-lab/dsse) envelope of the payload type `{TYPE}`.
The envelope's `keyid` is the first 16 hex digits of the SHA-256 of the raw public key.
How it is used: [verify where a commit comes from](../how-to/verify-where-a-commit-comes-from.md)."""
PLACES = """\
It lies in `<home>/data/attestations/`, as `<decision>-<digest>.json`, and is attached to the run's record in
Polarion as `attestation-<decision>-<digest>.json`.
Its SHA-256 is in the egress log, in a record of the kind `attestation`.
The battery's own pushes, by which the walls are tried, go to no host of anybody's and have none."""
SUBJECTS = f"""\
`_type` is `{STATEMENT}`, `predicateType` is `{PREDICATE}`.
Its `subject`s are the tips of the branches that moved, named `git+<url>@<ref>`, then the commits that the
host didn't have, named `git+<url>`; the digest `gitCommit` is the object id, in the repository's own hash.
The fields below are those of its `predicate`."""
WORDS = """\
`sandgate verify` looks at one thing after the other, and stops at the first that is wrong.
It exits with 0 when nothing is, with 4 when there is no such commit, repository or attestation,
and otherwise with a code of the reason's own. `--json` has the reason as `word`."""


def attestation() -> str:
    """The page."""
    schema = Push.model_json_schema(by_alias=True)
    return page(
        "Attestations",
        INTRO,
        PLACES,
        "## The statement",
        SUBJECTS,
        table(("field", "type", "meaning"), _fields(schema, schema, "")),
        "## Why a commit is not vouched for",
        WORDS,
        table(
            ("word", "exit code", "meaning"),
            ((code(word), number, meaning) for word, (number, meaning) in REFUSALS.items()),
        ),
    )


def _fields(
    whole: Mapping[str, Any], part: Mapping[str, Any], under: str
) -> Iterator[tuple[str, str, str]]:
    for name, given in part["properties"].items():
        one = next((kind for kind in given.get("anyOf", ()) if kind.get("type") != "null"), given)
        listed = one.get("type") == "array"
        inner = whole["$defs"].get(str(_part(one, listed=listed)).rpartition("/")[2])
        path = f"{under}{name}{'[]' if listed else ''}"
        kind = "object" if inner else str(one.get("items", one).get("type", ""))
        optional = "" if name in part["required"] else " if any"
        yield code(path), f"{kind}{optional}", str(given.get("description") or _about(inner))
        if inner:
            yield from _fields(whole, inner, f"{path}.")


def _part(kind: Mapping[str, Any], *, listed: bool) -> Any:
    return (kind["items"] if listed else kind).get("$ref", "")


def _about(inner: Mapping[str, Any] | None) -> str:
    return str(inner["description"]) if inner else ""
