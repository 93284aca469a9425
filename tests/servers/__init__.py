"""Real servers for tests, each with a home of its own under a temporary folder."""
