"""The complete simulated world, loaded by the command that people use. It takes minutes: once for all slow tests."""

import json
from pathlib import Path

from click.testing import CliRunner

from almanac.__main__ import main
from tests.support.invented_mirror import NOW
from tests.support.service import make_accounts, settings

#: Another moment of the same day.
LATER = NOW[:11] + "23:00:00Z"


def build(folder: Path) -> None:
    """
    Load the world into `home` under a folder, twice; what the command said is kept beside it, in `said.json`.

    The second run is on the same day and must find everything there: the world is deterministic.
    """
    said = []
    for now in (NOW, LATER):
        env = {"ALMANAC_HOME": str(folder / "home"), "ALMANAC_NOW": now}
        result = CliRunner(env=env).invoke(main, ["sandbox"])
        assert result.exit_code == 0, result.output
        counted = json.loads(CliRunner(env=env).invoke(main, ["status", "--json"]).stdout)["coverage"]
        said.append({"stdout": result.stdout, "coverage": counted})
    make_accounts(settings(folder / "home"))
    (folder / "said.json").write_text(json.dumps(said))
