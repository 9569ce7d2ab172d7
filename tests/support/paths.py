"""Where the repository is, and the publishers' own files beside it (tests that read them skip where they are absent)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL_DATA = ROOT / "../shared/real-data"
