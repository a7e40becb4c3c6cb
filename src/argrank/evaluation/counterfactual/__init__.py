"""What rankers would earn, estimated from a click log: values with intervals, comparisons, and which users prefer."""
