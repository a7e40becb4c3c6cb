"""What a column is: its role, its type, and what its texts stand for; the same for files and data frames."""
