"""The Lucene subset of the REST API's `query` parameter, and the `sort` string, as SQL.

- `terms`: what a query means, as a small tree; `lucene` reads the text into it [pure].
- `dates`: what a date in a query stands for [pure].
- `fields`: how one field is compared; `sql` makes the whole condition; `sorting` the order [pure].
- `functions`: the SQL functions that these conditions call.
"""
