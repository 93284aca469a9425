"""What answers are made of: texts, a picture, a sound, a resource."""

import base64

import mcp_types as types

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
WAV = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00").decode()
PICTURE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
SOUND = types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def embedded(uri: str, kind: str, words: str) -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=resource)
