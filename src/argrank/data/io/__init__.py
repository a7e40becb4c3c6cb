"""Judgements in and out: readers and writers of every format."""
