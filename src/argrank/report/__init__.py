"""What is shown: plots with matplotlib, and the HTML report with everything in one file."""
