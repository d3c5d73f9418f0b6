"""Search: a question becomes a :class:`Query`, a query finds events, and each is a :class:`Hit`."""
