"""`docs/reference/egress-log.md`: how the log is read, from the tables that the code reads it by [pure]."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from orchestrator.cli.reference.markdown import code, page, table
from orchestrator.egress.columns import COLUMNS
from orchestrator.egress.ocsf.classes import (
    AUTHENTICATION,
    BASE_EVENT,
    CLASSES,
    NETWORK_ACTIVITY,
    VERSION,
    Class,
)
from orchestrator.egress.ocsf.verdict import VERDICTS, Verdict
from orchestrator.egress.statement import TABLE_FUNCTIONS
from orchestrator.telemetry.metrics import LABELS, Metrics

INTRO = """\
How the egress log is read: as a table, as events of a schema that other systems know, as metrics.
What its files hold is on [their own page](egress-log-files.md).
How to use all this: [audit what an agent sent](../how-to/audit-what-an-agent-sent.md),
[connect your SIEM](../how-to/connect-your-siem.md)."""
TABLE = """\
`sandgate egress query` asks the table `attempts`, in DuckDB's SQL:
a row an attempt, the decision and what came of it together.
Times are UTC, without a zone of their own.
What doesn't apply is NULL; so is a field that can't be read."""
SQL = """\
One SELECT at a time is answered.
It may use every scalar and aggregate function, WITH, window functions, joins of `attempts` with itself,
and these functions as tables: {}."""
OCSF = f"""\
`sandgate egress export` makes each line an event of OCSF {VERSION}:
a decision at once, its outcome when it comes. Both have the same `metadata.correlation_uid`;
`metadata.uid` is the line's own, made of the installation's name and the line's number.
The profiles are `host` and `security_control`.
What the schema has no attribute for is in `unmapped`: the task, the cause, hashes."""
METRICS = """\
`/metrics` of the runner's API, in Prometheus' text format.
Attempts, bytes and spending are counted since the runner was started, from what was recorded.
No label names a host, a run, a task or an agent."""


def egress_log() -> str:
    """The page."""
    functions = ", ".join(code(name) for name in sorted(TABLE_FUNCTIONS))
    return page(
        "Reading the egress log",
        INTRO,
        "## The table `attempts`",
        TABLE,
        table(
            ("column", "type", "meaning"),
            ((code(one.name), one.type, one.meaning) for one in COLUMNS),
        ),
        SQL.format(functions),
        "## Events of OCSF",
        OCSF,
        table(("what", "class"), _classes()),
        table(
            ("decision", "action", "disposition", "severity"),
            ((code(word), one.action, one.disposition, one.severity) for word, one in _verdicts()),
        ),
        "## Metrics",
        METRICS,
        table(("metric", "type", "labels", "meaning"), _metrics()),
    )


def _classes() -> Iterator[tuple[str, str]]:
    for door, found in CLASSES.items():
        yield f"an attempt at the door {code(door)}", _named(found)
    yield "one of them with a method and a URL, whichever door", _named(CLASSES["egress"])
    yield "one at the proxy that was no request at all", _named(NETWORK_ACTIVITY)
    yield "a refused identity, whichever door", _named(AUTHENTICATION)
    yield "what the log says of itself", _named(BASE_EVENT)


def _named(found: Class) -> str:
    return f"{found.name} ({found.uid})"


def _verdicts() -> Iterator[tuple[str, Verdict]]:
    yield from VERDICTS.items()


def _metrics() -> Iterator[tuple[str, str, str, str]]:
    for one in _ours():
        labels = ", ".join(code(label) for label in LABELS.get(one.name, ()))
        name = f"{one.name}_total" if one.type == "counter" else one.name
        yield code(name), one.type, labels, one.documentation


def _ours() -> Iterator[Metric]:
    return (one for one in Metrics().registry.collect() if one.name.startswith("sandgate_"))
