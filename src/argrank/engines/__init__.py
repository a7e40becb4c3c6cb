"""The risk: data and an objective become a value and a gradient in the weights of a linear model."""
