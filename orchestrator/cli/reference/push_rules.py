"""`docs/reference/push-rules.md`, from the tables of rules, gates and secrets [pure]."""

from collections.abc import Iterable

from entrance.git.checks.gates import GATES
from entrance.git.checks.rules import RULES, Rule
from entrance.git.checks.scanners.engine import KINDS
from entrance.push_policy import PushPolicy
from orchestrator.cli.reference.markdown import code, page, table

INTRO = """\
What is looked for in every push once its pack has been read, before a byte of it goes on.
Which refs may be pushed at all is another matter: only branches of the run's own task.
See [how to decide what a push may bring](../how-to/decide-what-a-push-may-bring.md)."""
OF_RULES = """\
`note` writes a finding down, `hold` has a person asked, `deny` refuses the push. The worst decides for
all of it. `always` can't be made milder.
An agent is told the rule, the first three places, and what it may do; never a secret's value."""
OF_SIZES = """\
`file-size` and `pack-size` go by these."""
OF_GATES = """\
Upper and lower case are one, and so are names that some file system takes for the same, as `.github.`.
A symbolic link or a submodule in the place of a folder that a gate is below is one, too.
`**` stands for any number of folders.
Code that CI runs (tests, build files, a package's scripts) is no gate: a reviewer reads it anyway."""
OF_SECRETS = """\
Files of any size, binary ones, commits and their messages are looked through, as they are, in UTF-16, and,
where a kind begins in a way of its own, in base64; the names of new files, folders and branches, too.
What a file that is replaced had already is no news.
Archives and compressed files are not unpacked: what they hold is seen by nobody but who reviews them.
*Sure* ones are found by `secret`, *likely* ones by `likely-secret`.
What looks made up (an example of a manual, a row of letters, a placeholder) is left alone."""


def push_rules() -> str:
    """The page."""
    usual = PushPolicy()
    return page(
        "Rules of pushes",
        INTRO,
        "## Rules",
        OF_RULES,
        table(("rule", "mode", "finds"), (_rule(rule) for rule in RULES)),
        "## Sizes",
        OF_SIZES,
        table(
            ("limit", "unless a policy says less"),
            (
                (code("max_file_bytes"), f"{usual.max_file_bytes >> 20} MiB"),
                (code("max_pack_bytes"), f"{usual.max_pack_bytes >> 20} MiB"),
            ),
        ),
        "## Gates",
        OF_GATES,
        table(("what stands there", "where"), ((what, _codes(at)) for what, at in GATES.items())),
        "## Secrets",
        OF_SECRETS,
        table(("kind", "class"), _kinds()),
    )


def _rule(rule: Rule) -> tuple[str, str, str]:
    mode = f"{code(rule.mode)}, always" if rule.fixed else code(rule.mode)
    return code(rule.name), mode, rule.about


def _kinds() -> Iterable[tuple[str, str]]:
    return {kind.what: "sure" if kind.sure else "likely" for kind in KINDS}.items()


def _codes(globs: Iterable[str]) -> str:
    return ", ".join(map(code, globs))
