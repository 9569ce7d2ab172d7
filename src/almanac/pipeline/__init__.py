"""fetch → keep raw → parse → append → derive; and what an operator does to the whole: rebuild, verify, back up."""
