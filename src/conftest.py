"""Which modules' examples are tested: that of PyTorch where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["argrank/torch.py"]
