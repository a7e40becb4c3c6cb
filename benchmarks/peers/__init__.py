"""argrank against LightGBM, XGBoost and CatBoost: quality and cost on every collection at hand, for anybody to repeat.

``make bench-peers`` runs what is not yet in the store (``runs.jsonl`` beside this file) and writes the page; every run
is a process of its own on one thread. ``python -m benchmarks.peers run --sets MQ2008 --folds 1`` runs a part.
"""
