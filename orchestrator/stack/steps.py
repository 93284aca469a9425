"""Steps of a set-up: each says what it does, how long it took, and in a sentence why it failed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic

from rich.console import Console
from rich.markup import escape
from rich.status import Status


class StepFailed(Exception):
    """A step that can't go on. Its text is what a person reads: what, why, and what to do."""

    def __init__(self, what: str, *, why: str, what_to_do: str = "") -> None:
        super().__init__(what, why, what_to_do)
        self.what = what
        self.why = why
        self.what_to_do = what_to_do

    def __str__(self) -> str:
        head = f"{self.what}: {self.why.strip()}"
        return f"{head}\n{self.what_to_do}" if self.what_to_do else head


class Step:
    """One running step. Without a word to `doing` it counts as already done."""

    def __init__(
        self,
        title: str,
        show: Callable[[str], None],
        show_detail: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.title = title
        self.worked = False
        self.remark = ""
        self._show = show
        self._show_detail = show_detail

    def doing(self, what: str) -> None:
        """Say that real work begins now; may be said several times."""
        self.worked = True
        self._show(what)

    def detail(self, what: str) -> None:
        """Say how far the work is. Often: only who watches a terminal sees it."""
        self._show_detail(what)

    def note(self, remark: str) -> None:
        """Leave a remark for the step's closing line (a version, a port, a tag)."""
        self.remark = remark


class Steps:
    """Shows steps on a console: a spinner on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = monotonic) -> None:
        self.console = console
        self._clock = clock

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Run the block as the step `title`; a `StepFailed` is shown and goes on to the caller."""
        began = self._clock()
        # A spinner redraws its line: in a log file that would be noise.
        status = self.console.status(escape(title)) if self.console.is_terminal else None
        step = Step(
            title,
            lambda what: self._progress(title, what, status),
            lambda what: self._progress(title, what, status) if status else None,
        )
        try:
            with status or nullcontext():
                yield step
        except StepFailed:
            self._close("[red]failed[/]", step, self._clock() - began)
            raise
        self._close("[green]done[/]" if step.worked else "[dim]ok[/]", step, self._clock() - began)

    def _progress(self, title: str, what: str, status: Status | None) -> None:
        text = f"{escape(title)}: {escape(what)}"
        if status is None:
            self.console.print(f"       {text}", soft_wrap=True)
        else:
            status.update(text)

    def _close(self, verdict: str, step: Step, took_s: float) -> None:
        pad = " " * (6 - len(verdict.split("]")[1].split("[", maxsplit=1)[0]))
        remark = f" [dim]{escape(step.remark)}[/]" if step.remark else ""
        line = f"{verdict}{pad} {escape(step.title)}{remark} [dim]{took_s:.1f} s[/]"
        self.console.print(line, soft_wrap=True, highlight=False)
