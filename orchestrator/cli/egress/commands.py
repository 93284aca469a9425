"""`sandgate egress` as one."""

import typer

from orchestrator.cli.egress.ask import ask
from orchestrator.cli.egress.export import export
from orchestrator.cli.egress.ls import ls
from orchestrator.cli.egress.tail import tail
from orchestrator.cli.egress.verify import check

app = typer.Typer(
    no_args_is_help=True,
    help="What agents sent and wanted to send: list, follow, query, verify, export the egress log.",
)
app.command()(ls)
app.command()(tail)
app.command("query")(ask)
app.command("verify")(check)
app.command()(export)
