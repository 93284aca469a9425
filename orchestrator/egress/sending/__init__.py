"""Sending the log on to other systems: every record once and in order, across restarts of both sides.

- `messages`: a record as bytes: as it is, or as an OCSF event [pure].
- `syslog`: a record as a syslog message (RFC 5424), and how it is framed [pure].
- `cursor`: how far a target has got, on the disk.
- `targets`: what every target promises; a file.
- `streams`: syslog over UDP, TCP and TLS. `http`: batches by POST.
- `export`: the loop.
"""
