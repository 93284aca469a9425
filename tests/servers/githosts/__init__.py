"""Servers that behave like the git hosts' APIs, as far as Sandgate asks them.

Status codes, error bodies, pages and headers are those that the hosts document.
"""
