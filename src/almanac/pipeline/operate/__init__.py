"""The operator's tasks on the whole: status, verify, rebuild, back up."""
