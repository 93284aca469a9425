"""Why a commit is not vouched for: each reason has a word, and a number of its own for programs [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Word(StrEnum):
    """What is wrong."""

    UNREADABLE = "unreadable"
    FOREIGN_KEY = "foreign_key"
    FORGED = "forged"
    NOT_ATTESTED = "not_attested"
    MISSING_COMMIT = "missing_commit"
    ALTERED_COMMIT = "altered_commit"
    REPLACED_COMMIT = "replaced_commit"
    TRAILERS = "trailers"
    RANGE = "range"
    ALTERED_FILES = "altered_files"
    BROKEN_LOG = "broken_log"
    MISSING_RECORD = "missing_record"
    RETIRED_RECORD = "retired_record"
    OTHER_RECORD = "other_record"
    OTHER_LOG = "other_log"
    UNRECORDED = "unrecorded"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why it is not vouched for."""

    word: Word
    sentence: str


REFUSALS: Mapping[Word, tuple[int, str]] = {
    Word.UNREADABLE: (20, "The attestation is no attestation, or can't be read."),
    Word.FOREIGN_KEY: (21, "It is signed with another key than the one that is trusted."),
    Word.FORGED: (22, "It says something else than what was signed."),
    Word.NOT_ATTESTED: (23, "The push that it speaks of did not bring this commit."),
    Word.MISSING_COMMIT: (24, "A commit that it speaks of is not in the repository."),
    Word.ALTERED_COMMIT: (25, "A commit in the repository is not what its id says."),
    Word.REPLACED_COMMIT: (
        26, "The repository makes git show something else in place of a commit or of what is in it."
    ),
    Word.TRAILERS: (27, "A commit says of itself that it comes from elsewhere."),
    Word.RANGE: (28, "The commits between old and new are not those that it speaks of."),
    Word.ALTERED_FILES: (
        35, "A file or folder of the commit is missing in the repository, or is not what its id says."
    ),
    Word.BROKEN_LOG: (29, "The log is not whole: a link of its chain is missing or was changed."),
    Word.MISSING_RECORD: (30, "The log ends before the record of the decision."),
    Word.RETIRED_RECORD: (31, "A rule of retention has removed the record of the decision."),
    Word.OTHER_RECORD: (32, "The log's record of the decision is one of something else."),
    Word.OTHER_LOG: (33, "It is another log: where it stood at the time, it has another hash."),
    Word.UNRECORDED: (34, "The log doesn't tell of this attestation."),
}  # fmt: skip
"""A word to the command's exit code, and what it means."""
