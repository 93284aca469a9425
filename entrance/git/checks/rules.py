"""What is checked of every push, each rule a row [pure]. The page about them is made from this table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from entrance.git.checks import authors, files, history, names, sightings
from entrance.git.checks.facts import Brought
from entrance.git.checks.finding import Found
from entrance.push_policy import Mode, stricter
from entrance.session import Session


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `told` is what an agent reads before the places, `mend` what it may do about it."""

    name: str
    mode: Mode
    """What its findings mean where no policy says more."""
    told: str
    mend: str
    about: str
    """For people who set the policy: what it finds, and why that matters."""
    find: Callable[[Brought, Session], Iterator[Found]]
    fixed: bool = False
    """No policy makes it milder."""


MENDING = "{mending}"
"""Stands for what makes commits the run's own."""
_TAKE_OUT = "take it out of every commit of the branch that isn't pushed yet, not only the last"

RULES: tuple[Rule, ...] = (
    Rule(
        "rewind",
        Mode.DENY,
        "the branch would lose commits that others may have seen",
        "merge or rebase onto what is there, or push under a new name",
        "The branch's old commit is not behind its new one: a forced push, an amended or rebased commit, "
        "a branch set back with an empty pack.",
        history.rewinds,
        fixed=True,
    ),
    Rule(
        "no-commit",
        Mode.DENY,
        "a branch is a commit, and this is none",
        "push a commit",
        "A branch would be at a tag, a tree, a file, or at an object that nobody has.",
        history.no_commits,
        fixed=True,
    ),
    Rule(
        "stray",
        Mode.DENY,
        "the pack has objects that no branch of the push leads to",
        "push with git itself, from a repository without grafts",
        "Objects that come along hidden: no branch leads to them, so nobody would review them, and the "
        "host would keep them.",
        history.strays,
        fixed=True,
    ),
    Rule(
        "unattributed",
        Mode.DENY,
        "it is not known whose commits this run may push",
        "nothing can be done from in here; say so in what you hand over",
        "Commits of a run whose agent has no name and mail for git.",
        authors.unattributed,
        fixed=True,
    ),
    Rule(
        "committer",
        Mode.DENY,
        "a commit was made in another's name",
        MENDING,
        "The committer is not the agent's own name and mail.",
        authors.foreign_committers,
    ),
    Rule(
        "trailers",
        Mode.DENY,
        "a commit doesn't say which run made it",
        MENDING,
        "A commit without `Agent-Run`, `Agent-Task` and `Agent-Model` in its last paragraph, or with those "
        "of another run. Runs before this one of the same task count as its own.",
        authors.wrong_trailers,
    ),
    Rule(
        "author",
        Mode.HOLD,
        "a commit was written by somebody else",
        f"if it is your work, {MENDING}",
        "The author is not the agent's own: a cherry-pick, a patch of somebody's, or a name made up.",
        authors.foreign_authors,
    ),
    Rule(
        "secret",
        Mode.DENY,
        "there is a secret",
        _TAKE_OUT,
        "A key or token whose form leaves hardly any doubt, in a file of any size, in any new commit, also "
        "if a later one takes it out again; in a commit's message; or in the name of a new file, folder or "
        "branch.",
        sightings.sure_secrets,
    ),
    Rule(
        "likely-secret",
        Mode.HOLD,
        "there may be a secret",
        f"if it is one, {_TAKE_OUT}",
        "What looks like a secret, and often is none: passwords in settings, URLs with passwords, tokens.",
        sightings.likely_secrets,
    ),
    Rule(
        "gate-path",
        Mode.HOLD,
        "a file was changed that others' machines run or obey",
        "leave it out unless the task asks for it",
        "CI, owners of code, hooks, git's settings, instructions of coding agents: see the list below.",
        files.gates,
    ),
    Rule(
        "submodule",
        Mode.HOLD,
        "a submodule was changed",
        "leave it out unless the task asks for it",
        "What is in it comes from another repository, and was not looked at here.",
        files.submodules,
    ),
    Rule(
        "leaving-link",
        Mode.DENY,
        "a symbolic link doesn't stay inside the repository",
        "link to a path inside it, with `..` only at the beginning",
        "Absolute links, links that lead out of the tree, go up behind a name, or into `.git`.",
        files.leaving_links,
    ),
    Rule(
        "executable-bit",
        Mode.NOTE,
        "a file was made executable, or not executable any more",
        "set the mode back unless it is meant",
        "A file begins to be a program, or stops to be one.",
        files.flipped_bits,
    ),
    Rule(
        "lfs-pointer",
        Mode.DENY,
        "a file is kept by Git LFS, which isn't served here: the host would get the pointer and no file",
        "commit the file itself, or leave it out",
        "A new pointer of Git LFS. Its file can't be pushed through the door, so whoever checks the branch "
        "out would miss it. One that the host has already may be moved.",
        files.pointers,
    ),
    Rule(
        "file-size",
        Mode.DENY,
        "a file is too large",
        _TAKE_OUT,
        "A new file that is larger than `max_file_bytes`.",
        files.large_files,
    ),
    Rule(
        "pack-size",
        Mode.DENY,
        "the push is too large",
        "push in smaller steps",
        "A pack that is larger than `max_pack_bytes`.",
        history.oversized_pack,
    ),
    Rule(
        "path-name",
        Mode.DENY,
        "a path has a name that is a trap",
        "rename it in every commit of the branch that isn't pushed yet",
        "Spellings of `.git`, backslashes, control bytes, letters that show nothing or turn the text round.",
        names.bad_names,
    ),
    Rule(
        "awkward-path",
        Mode.HOLD,
        "a path can't be checked out everywhere",
        "rename it",
        "Names that Windows can't have, that are very long, or that are no UTF-8.",
        names.awkward_names,
    ),
    Rule(
        "one-name-twice",
        Mode.HOLD,
        "two paths are the same where upper and lower case are",
        "rename one of them",
        "Of two such paths a checkout on macOS or Windows has one, which has been used to write into "
        "`.git`. Only paths of the same push are compared.",
        names.one_name_twice,
    ),
)
"""In the order in which an agent is told of them."""

NAMED: Mapping[str, Rule] = {rule.name: rule for rule in RULES}


def mode_of(rule: Rule, given: Mapping[str, Mode]) -> Mode:
    """What a rule's findings mean when a policy gives these modes."""
    mode = given.get(rule.name, rule.mode)
    return stricter(rule.mode, mode) if rule.fixed else mode
