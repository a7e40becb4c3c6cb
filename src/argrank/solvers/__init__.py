"""How a risk is minimised; solvers know the risk protocol and never a measure."""
