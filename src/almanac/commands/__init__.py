"""The commands, by what they are about. The module of a command is imported when it is used, so that `almanac --help` answers at once."""
