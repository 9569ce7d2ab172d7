"""Payloads assembled at read time from rows that are already served. Pure: no SQL, no clock."""
