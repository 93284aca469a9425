"""The REST API's routes, one module an area, each with a list `ROUTES`.

`call` is what every handler gets: the request with the store, the caller and the answers' shapes.
"""
