"""The pipeline (fetch → keep raw → parse → append → derive) and the operator's tasks: rebuild, verify, back up."""
