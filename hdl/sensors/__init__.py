"""Encoders and what turns their signals into lengths."""
