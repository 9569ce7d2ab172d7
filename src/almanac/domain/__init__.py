"""The meaning of observations, periods, rights and reference records. No I/O, no clock, no SQL."""
