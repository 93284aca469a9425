"""What other systems watch Sandgate by: Prometheus metrics, OpenTelemetry traces.

Both are made from what the egress log has on the disk, not from the requests themselves: they count
what was recorded, for all doors alike, and no request waits for them.

- `following`: the newest lines of the log, as they come.
- `metrics`: counters and gauges, as Prometheus reads them.
- `traces`: a span for each run, and one for each of its attempts; only where they are wanted.
"""
