"""Generated data: synthetic rankings, and stand-ins for collections that are not available."""
