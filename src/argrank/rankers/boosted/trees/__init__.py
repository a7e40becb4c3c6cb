"""Trees grown by LightGBM on gradients or labels, one class for each loss."""
