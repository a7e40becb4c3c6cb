"""The pairs map (phi_po): most violated rankings, one measure per file."""
