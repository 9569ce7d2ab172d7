-- Screens are kept by their addresses.

DROP TABLE saved_screen;
