"""`python -m almanac_mcp` is `almanac-service-mcp`."""

from .command import main

if __name__ == "__main__":
    main()
