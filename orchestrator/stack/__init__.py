"""Brings the processes of one installation up on one machine."""
