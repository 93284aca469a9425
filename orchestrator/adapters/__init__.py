"""The world, one adapter a system; each implements ports and translates errors. None imports another."""
