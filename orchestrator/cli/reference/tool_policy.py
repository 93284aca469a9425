"""`docs/reference/tool-policy.md`, from the tables of rules and modes [pure]."""

from collections.abc import Iterator

from entrance.mcp.about import NAMES
from entrance.mcp.beyond_policy import RULES as BEYOND_RULES
from entrance.mcp.beyond_policy import Case, Wish
from entrance.mcp.policy import RULES
from entrance.mcp.recorded import LONGEST
from entrance.tool_policy import MODES
from orchestrator.cli.reference.markdown import code, page, table
from orchestrator.domain.calls import LONGEST_ARGUMENTS

INTRO = """\
How an engagement says what its agent may do with tools, and by which rule a call is decided.
See [how to say it](../how-to/decide-which-tools-an-agent-may-call.md)."""
OF_FORM = """\
By connection, either a list of tools (these, in the mode `write`, and no others) or an object:

| key | meaning |
|---|---|
| `tools` | by a tool's name: a mode, or `{mode, arguments, beyond, two_people}` |
| `tools.NAME.arguments` | a JSON Schema for the arguments; references are not followed |
| `tools.NAME.beyond` | what becomes of a call that doesn't fit: `deny` (unless said otherwise) or `hold` |
| `tools.NAME.two_people` | `true`: two people have to allow a held call |
| `others` | the mode of tools that are not named: `approval` (unless said otherwise) or `forbidden` |
| `scope` | what calls may be about: `projects`, `types`, `repositories`, `queries`, each a list |
| `prompts` | the prompts that it may get; none, unless it is said, as with the next two |
| `resources` | the URIs of resources that it may read; one that ends in `*`: all that begin with it |
| `asks` | what the connection's server may ask back: `sampling`, `elicitation`, `roots` |

What can't be read grants nothing at all."""
OF_RULES = """\
The first that applies decides, and its name is in the log (`sandgate egress query`, column `rule`).
What a server says of its own tools (`readOnlyHint` and the like) is never asked."""
OF_CONNECTIONS = """\
What a connection says of itself (`toolPolicy` of its item in the Agent Pool) counts for all who are hired:
modes by tool, or an object with `tools`, `prompts`, `resources` and `asks`. Where it has a list, nothing is
open that isn't on it. It opens nothing."""
OF_MORE = """\
The rules for what is no tool call: prompts, resources, and what a server may ask. A URI with dots or encoded
slashes is never below another; a template is open when all that it makes is."""
OF_SCOPES = """\
A provider that knows what its calls are about says it. Else the names of arguments tell, in upper or lower
case, however deep:"""
OF_RECORDS = f"""\
Every call is in the egress log before it is made: its arguments up to {LONGEST} characters, without what is
called like a secret or looks like one, with the SHA-256 of all of them in their canonical form (RFC 8785;
whole numbers beyond 2^53 keep their digits). A call with more than {LONGEST_ARGUMENTS} bytes of arguments
can't be held, and is refused where it would be."""


def tool_policy() -> str:
    """The page."""
    return page(
        "Tool policy",
        INTRO,
        "## What an engagement says",
        OF_FORM,
        "## What a connection says",
        OF_CONNECTIONS,
        "## Modes",
        table(("mode", "meaning"), ((code(mode), words) for mode, words in MODES.items())),
        "## Rules",
        OF_RULES,
        table(("rule", "decision", "applies when"), _rules()),
        "## Prompts, resources and questions",
        OF_MORE,
        table(("rule", "decision", "applies when"), _rules_beyond()),
        "## What a call is about",
        OF_SCOPES,
        table(("names", "tell"), _names()),
        "## What is recorded",
        OF_RECORDS,
    )


def _rules() -> Iterator[tuple[str, str, str]]:
    for rule in RULES:
        yield code(rule.name), rule.decision("").word, rule.what


def _rules_beyond() -> Iterator[tuple[str, str, str]]:
    case = Case(Wish("prompt", "", ""), None)
    for rule in BEYOND_RULES:
        yield code(rule.name), rule.decision(case).word, rule.what


def _names() -> Iterator[tuple[str, str]]:
    for what in dict.fromkeys(NAMES.values()):
        names = ", ".join(code(name) for name, told in NAMES.items() if told == what)
        yield names, "the project, as `PROJECT/ITEM`" if what == "items" else what
