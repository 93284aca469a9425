"""Proof of where commits come from: a signed statement for each push that the host took, and its check.

- `statement`: what is said of a push, as an in-toto statement [pure].
- `envelope`: how it is signed, as a DSSE envelope [pure].
- `store`, `attestor`: where attestations are kept; who writes them, as the door's `Witness`.
- `refusals`: why a commit isn't vouched for, each with a word and a number of its own [pure].
- `commits`: whether a repository's commits are those that were attested [pure].
- `names`, `objects`: what a repository calls its commits, and those commits as they lie in it; nothing of
  it is run or obeyed.
- `trees`: whether a commit's files are what their ids say.
- `chain`: whether the log tells the same.
- `verify`: all of these, one after the other.
"""
