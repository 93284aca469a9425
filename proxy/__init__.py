"""The second door: a read-only internet for sandboxes. It imports nothing of ours.

policy decides [pure], with hosts, paths, addresses, framing and identity below it; recorder tells
the one log; engine and addon put them into mitmproxy's core; authority makes the certificates.
"""
