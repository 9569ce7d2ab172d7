"""Formatting: how numbers, periods, days and units are written, and sentences made by rule. Nothing here reads a clock."""
