"""What an operator says of one source."""

import pytest

from almanac.config import SettingError, SourceSettings, load


def test_contact_companies_and_bulk_from_the_environment(tmp_path):
    settings = load({
        "ALMANAC_HOME": str(tmp_path),
        "ALMANAC_SOURCES__SEC__CONTACT": "Jane Doe jane@example.org",
        "ALMANAC_SOURCES__SEC__COMPANIES": "AAPL, 1067983,",
        "ALMANAC_SOURCES__SEC__BULK": "true",
    })  # fmt: skip
    assert settings.sources["sec"] == SourceSettings(
        contact="Jane Doe jane@example.org", companies=("AAPL", "1067983"), bulk=True
    )


def test_and_from_the_file(tmp_path):
    (tmp_path / "almanac.toml").write_text('[sources.sec]\ncontact = "jane@example.org"\ncompanies = ["AAPL"]\n')
    assert load({"ALMANAC_HOME": str(tmp_path)}).sources["sec"] == SourceSettings(
        contact="jane@example.org", companies=("AAPL",)
    )


def test_a_source_names_the_setting_that_is_its_key():
    settings = SourceSettings(api_key="k", contact="c")
    assert settings.key("ALMANAC_SOURCES__FRED__API_KEY") == "k"
    assert settings.key("ALMANAC_SOURCES__SEC__CONTACT") == "c"
    assert settings.key(None) is None


@pytest.mark.parametrize(("name", "value"), [("BULK", "perhaps"), ("MOOD", "good")])
def test_what_is_no_setting_is_named(tmp_path, name, value):
    with pytest.raises(SettingError, match=rf"(?i){name}"):
        load({"ALMANAC_HOME": str(tmp_path), f"ALMANAC_SOURCES__SEC__{name}": value})
