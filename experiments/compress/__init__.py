"""What is lost when a small forest replaces a large blend."""
