"""Pages for an account: sign-in, keys, usage, password and web sessions."""
