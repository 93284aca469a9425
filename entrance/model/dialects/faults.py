"""The words that each API has for what goes wrong, where they tell more than the status [pure].

A code decides before any words do, and words before the status. What is billed to a key that has
run dry is `credential`: no run can mend it, an operator has to.
"""

import re

from entrance.model.dialects.trouble import Faults


def _says(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


ANTHROPIC = Faults(
    codes={
        "authentication_error": "credential",
        "billing_error": "credential",
        "overloaded_error": "overloaded",
        "permission_error": "credential",
        "rate_limit_error": "rate_limit",
        "request_too_large": "context_overflow",
    },
    words=(
        (_says(r"prompt is too long|exceeds? (the )?context (limit|window)"), "context_overflow"),
        (_says(r"credit balance|API usage limits|organization has been disabled"), "credential"),
    ),
)

OPENAI = Faults(
    codes={
        "account_deactivated": "credential",
        "array_above_max_length": "context_overflow",
        "billing_hard_limit_reached": "credential",
        "billing_not_active": "credential",
        "context_length_exceeded": "context_overflow",
        "insufficient_quota": "credential",
        "invalid_api_key": "credential",
        "rate_limit_exceeded": "rate_limit",
        "server_is_overloaded": "overloaded",
        "slow_down": "overloaded",
        "string_above_max_length": "context_overflow",
        "unsupported_country_region_territory": "credential",
    },
    words=(
        (_says(r"maximum context length|context window"), "context_overflow"),
        (_says(r"exceeded your current quota"), "credential"),
    ),
)

GEMINI = Faults(
    codes={
        "API_KEY_INVALID": "credential",
        "API_KEY_SERVICE_BLOCKED": "credential",
        "BILLING_DISABLED": "credential",
        "CONSUMER_INVALID": "credential",
        "CONSUMER_SUSPENDED": "credential",
        "FAILED_PRECONDITION": "credential",
        "PERMISSION_DENIED": "credential",
        "RESOURCE_EXHAUSTED": "rate_limit",
        "SERVICE_DISABLED": "credential",
        "UNAUTHENTICATED": "credential",
        "UNAVAILABLE": "overloaded",
    },
    words=(
        (_says(r"exceeds the maximum number of tokens"), "context_overflow"),
        (_says(r"API key (not valid|expired|not found)|valid API key"), "credential"),
    ),
)
"""FAILED_PRECONDITION is said to keys that are not paid for, or not where the caller is."""
