"""The backends' counter, as far as it decides."""
