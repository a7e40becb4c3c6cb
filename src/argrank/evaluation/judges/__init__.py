"""Auditing judgements: how far judges agree, and measures by cheap judgements that trusted ones correct."""
