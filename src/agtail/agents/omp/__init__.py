"""Oh My Pi."""
