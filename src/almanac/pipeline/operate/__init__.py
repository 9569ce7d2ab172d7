"""What an operator does to the whole: status, verify, rebuild, back up."""
