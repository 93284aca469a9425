"""How one server is set up."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """`strict`: refuse unknown types, statuses, options, custom fields, users and link targets.

    The limits are Polarion's own defaults where it has one.
    """

    strict: bool = False
    default_page_size: int = 100
    max_page_size: int = 100
    body_size_limit: int = 2 * MIB
    attachment_size_limit: int = 100 * MIB
    timezone: str = "+00:00"
    version: str = "3.25.12"
