"""Export models to the engines that serve them, with proof of equal scores; import models of other libraries."""
