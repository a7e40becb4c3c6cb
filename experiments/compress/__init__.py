"""What a small forest loses in the place of a large blend."""
