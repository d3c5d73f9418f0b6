"""The store: a searchable copy of every history, kept beside the transcripts, never among them."""
