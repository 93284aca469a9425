"""Makes a conversation shorter: older results are put aside in files, then older turns are summed up."""

from native import context
from native.asking import Asking
from native.conversation import Reply, Result, size
from native.events import Emit
from native.kept import Kept
from native.output import Spill


class Compaction:
    """What `context` decides, done: with files for what was put aside, and the model for summaries."""

    def __init__(self, asking: Asking, aside: Spill, emit: Emit) -> None:
        self._asking = asking
        self._aside = aside
        self._emit = emit

    def shorten(self, conversation: Kept, characters: int) -> bool:
        """Get down to `characters`, as far as it goes; False if nothing could be gained.

        Raises:
            Trouble: the model gave no summary.
        """
        before = conversation.messages
        messages, count = context.with_results_put_aside(before, characters, self._put_aside)
        said = f"The conversation became long: {count} older results were put aside."
        if size(messages) > characters:
            older, newest = context.split(messages, characters // 2)
            if any(isinstance(message, Reply) for message in older):
                asked = context.summary_asked(older, characters)
                summary = self._asking.ask(context.SUMMARY_SYSTEM, [asked], ()).reply.text
                messages = context.with_summary(older, summary, newest)
                said = f"The conversation became long; the older turns, summed up:\n{summary}"
        if size(messages) >= size(before):
            return False
        conversation.become(messages)
        self._emit("reasoning", text=said)
        return True

    def _put_aside(self, result: Result) -> str:
        where = self._aside.keep(result.text.encode("utf-8", "replace"), f"{result.name}.txt")
        return f"[put aside to keep the conversation short: {where}]"
