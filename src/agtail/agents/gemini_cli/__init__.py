"""Gemini CLI: sessions that are logs of changes to a conversation."""
