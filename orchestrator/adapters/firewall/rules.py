"""The rules of a sandbox network's nft table, as data [pure].

RULES is the whole of what a sandbox may reach and who may reach it; order within a chain matters.
What is dropped goes through the chain `dropped`, which counts it by who wanted to reach whom.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PRIORITY = -10
"""Before the engine's own chains, which run at 0 and may say anything."""

HOOKS: Mapping[str, str] = {
    "input": "type filter hook input priority -10; policy accept;",
    "forward": "type filter hook forward priority -10; policy accept;",
    "output": "type filter hook output priority -10; policy accept;",
}
CHAINS = ("dropped", "from_sandbox", *HOOKS)
"""In this order: a chain must exist before a rule jumps to it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a chain. `name` is kept in the table as its comment, and checked for."""

    chain: str
    name: str
    text: str
    drops: int = 0
    """Its number in the counts of what was dropped, which no other rule ever gets; 0: it lets through."""
    why: str = ""
    """Why it drops, for whoever reads the log."""

    def written(self, values: Mapping[str, object]) -> str:
        """Its text in nft's words."""
        text = self.text.format_map(values)
        return f"{text} counter meta mark set {self.drops} goto dropped" if self.drops else text


RULES: tuple[Rule, ...] = (
    Rule("input", "from the bridge", 'iifname "{interface}" jump from_sandbox'),
    Rule("from_sandbox", "no IPv6", "meta nfproto ipv6", 1, "a sandbox has no IPv6"),
    # Before the address check: else an unregistered sandbox hangs the runner's calls to execd.
    Rule(
        "from_sandbox",
        "execd answers",
        "tcp sport {execd} ct state established ct direction reply accept",
    ),
    # Taking an address out cuts its live connections at once: before `established`.
    Rule(
        "from_sandbox",
        "registered only",
        "iifname . ip saddr != @bind",
        2,
        "the address is not one of a sandbox that was let in",
    ),
    Rule("from_sandbox", "replies", "ct state established accept"),
    Rule(
        "from_sandbox",
        "the doors",
        "ip daddr . tcp dport @doors tcp flags syn / fin,syn,rst,ack ct state new counter accept",
    ),
    Rule(
        "from_sandbox", "nothing else", "", 3, "of the host a sandbox reaches nothing but its doors"
    ),
    Rule(
        "forward",
        "nowhere through us",
        'iifname "{interface}"',
        4,
        "nothing is forwarded out of the sandbox network, nor from one sandbox to another",
    ),
    Rule(
        "forward",
        "nobody through us",
        'oifname "{interface}"',
        5,
        "nothing is forwarded into the sandbox network",
    ),
    Rule("output", "answers", 'oifname "{interface}" ct state established,related accept'),
    Rule(
        "output",
        "runner to execd",
        'oifname "{interface}" ip saddr {gateway} ip daddr {subnet} tcp dport {execd}'
        " ct state new counter accept",
    ),
    Rule(
        "output",
        "the host opens nothing",
        'oifname "{interface}"',
        6,
        "the host opens no connection to a sandbox but the runner's to its execd",
    ),
    # `update` fails where its set is full, and the next rule is tried: nothing is dropped uncounted.
    Rule(
        "dropped",
        "counted with its port",
        "meta nfproto ipv4 meta l4proto {{ tcp, udp, udplite, sctp, dccp }}"
        " update @dropped {{ meta mark . ip saddr . ip daddr . meta l4proto . th dport counter }}"
        " drop",
    ),
    Rule(
        "dropped",
        "counted without a port",
        "meta nfproto ipv4"
        " update @dropped {{ meta mark . ip saddr . ip daddr . meta l4proto . 0 counter }} drop",
    ),
    Rule(
        "dropped",
        "counted by its source",
        "meta nfproto ipv4 update @dropped_by {{ meta mark . ip saddr . meta l4proto counter }} drop",
    ),
    Rule(
        "dropped",
        "IPv6 counted with its port",
        "meta nfproto ipv6 meta l4proto {{ tcp, udp, udplite, sctp, dccp }} update"
        " @dropped_ipv6 {{ meta mark . ip6 saddr . ip6 daddr . meta l4proto . th dport counter }}"
        " drop",
    ),
    Rule(
        "dropped",
        "IPv6 counted without a port",
        "meta nfproto ipv6 update"
        " @dropped_ipv6 {{ meta mark . ip6 saddr . ip6 daddr . meta l4proto . 0 counter }} drop",
    ),
    Rule("dropped", "counted together", "counter name dropped_rest drop"),
)

NAMES: Mapping[int, Rule] = {rule.drops: rule for rule in RULES if rule.drops}
"""The rules that drop, by their numbers."""
