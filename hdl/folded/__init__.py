"""A graph as the program of one small core, for chips with few multipliers and little logic."""
