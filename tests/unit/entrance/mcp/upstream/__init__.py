"""Servers of others."""
