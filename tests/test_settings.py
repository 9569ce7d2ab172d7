"""Settings: every one is checked at every command, and all that is wrong is told at once."""

import ast
import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.catalog.load import source_ids
from almanac.config import SettingError, list_known, list_settings, load
from almanac.domain.rights import Consent
from tests.support.paths import ROOT
from tests.support.servers import free_port


def problems(home, file=None, **env):
    """Lines of what is wrong with these settings; variables without their prefix."""
    if file is not None:
        home.mkdir(exist_ok=True)
        (home / "almanac.toml").write_text(file, "utf-8")
    with pytest.raises(SettingError) as caught:
        load({"ALMANAC_HOME": str(home), **{f"ALMANAC_{name}": value for name, value in env.items()}}, source_ids)
    return [line.strip() for line in str(caught.value).splitlines()]


WHOLE = "allowed: a whole number"
FRAMES = "allowed: origins, each by its whole name, like https://blog.example.org"
PLACE = "allowed: a folder, file:// and its path, or s3://bucket/prefix"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("WORKERS", "0", f"came '0'; {WHOLE} >= 1"),
        ("PORT", "99999", f"came '99999'; {WHOLE} <= 65535"),
        ("CURSOR_DAYS", "0", f"came '0'; {WHOLE} >= 1"),
        ("FAILURES_PER_MINUTE", "-5", f"came '-5'; {WHOLE} >= 1"),
        ("PLANS__FREE__HISTORY_MONTHS", "0", f"came '0'; {WHOLE} >= 1"),
        ("HTTP__PROXY", "proxy:3128", "came a value that is not shown; allowed: http:// or https://, a host and a port"),
        ("HTTP__CA_BUNDLE", "/nowhere.pem", "came '/nowhere.pem'; allowed: a file of certificates in PEM that can be read"),
        ("HTTP__READ_TIMEOUT", "nan", "came 'nan'; allowed: a number > 0.0"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,foo", "came '10.0.0.0/8,foo'; allowed: addresses or networks, like 10.0.0.0/8"),
        ("CORS_ORIGINS", "https://a.example/", "came 'https://a.example/'; allowed: origins, like https://app.example.org, or *"),
        ("EMBED_ORIGINS", "blog.example.org", f"came 'blog.example.org'; {FRAMES}"),
        ("EMBED_ORIGINS", "https://a.example,https://b.example/", f"came 'https://a.example,https://b.example/'; {FRAMES}"),
        ("EMBED_ORIGINS", "https://me@a.example", f"came 'https://me@a.example'; {FRAMES}"),
        ("EMBED_ORIGINS", "https://a.example:99999", f"came 'https://a.example:99999'; {FRAMES}"),
        ("HOST", "nowhere", "came 'nowhere'; allowed: an address, like 127.0.0.1 or ::"),
        ("DATABASE_URL", "mysql://me:word@h/d",
         "came a value that is not shown; allowed: sqlite:/// and the path of a file, or postgresql://user@host/database"),
        ("RAW_URL", "s3://Bucket", f"came 's3://Bucket'; {PLACE}"),
        ("RAW_URL", "s3://bucket/../up", f"came 's3://bucket/../up'; {PLACE}"),
        ("SIGNUP", "everybody", "came 'everybody'; allowed: one of closed, invite, open"),
        ("SMTP__PORT", "0", f"came '0'; {WHOLE} >= 1"),
        ("SMTP__SECURITY", "ssl", "came 'ssl'; allowed: one of none, starttls, tls"),
        ("SMTP__PASSWORD", "", "came a value that is not shown; allowed: text of length >= 1"),
        ("DASHBOARD_URL", "data.example.org/x", "came 'data.example.org/x'; allowed: an origin, like https://data.example.org"),
        ("SOURCES__SEC__BULK", "perhaps", "came 'perhaps'; allowed: true or false"),
        ("LOG_LEVEL", "loud", "came 'loud'; allowed: one of critical, debug, error, info, warning"),
        ("HTTP", "x", "came 'x'; allowed: a table of settings"),
        ("DATABASE_URL", "", "came a value that is not shown; allowed: sqlite:/// and the path of a file, or postgresql://user@host/database"),
        ("RAW_STORES__X", "y", "there is no such setting; the nearest is ALMANAC_RAW_STORES"),
        ("REDIS_URL", "http://me:word@host", "came a value that is not shown; allowed: redis://, rediss:// or unix:// …"),
        ("PRT", "80", "there is no such setting; the nearest is ALMANAC_PORT"),
        ("PORT__INNER", "3", "there is no such setting"),
        ("SOURCES__FRED__APIKEY", "word", "there is no such setting; the nearest is ALMANAC_SOURCES__FRED__API_KEY"),
        ("SOURCES__NORGES_BANC__API_KEY", "w", "there is no source 'norges-banc'; the nearest is ALMANAC_SOURCES__NORGES_BANK__API_KEY"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_with_what_is_allowed(tmp_path, name, value, problem):
    assert problems(tmp_path, **{name: value}) == [f"ALMANAC_{name}: {problem}"]


def test_what_the_clients_read_is_no_setting_and_stands_in_nobodys_way(tmp_path):
    """A key is exported as the README says, and the service is run from the same shell."""
    packages = [ROOT / "clients/python/src", ROOT / "clients/mcp/src"]
    texts = [path.read_text("utf-8") for package in packages for path in package.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"ALMANAC_[A-Z_]+", text)}
    assert "ALMANAC_API_KEY" in read
    given = {"ALMANAC_HOME": str(tmp_path), **dict.fromkeys(read, "alm_x")}
    assert load(given, source_ids) == load({"ALMANAC_HOME": str(tmp_path)}, source_ids)
    assert list_settings(given) == {}


@pytest.mark.parametrize("hosts", ["a,b", "a:5432,b:5433", "me:word@a:1,b:2", "[::1]:5432,b"])
def test_a_server_may_have_several_hosts(tmp_path, hosts):
    """As libpq takes them: whichever is the primary is used."""
    url = f"postgresql://{hosts}/d?target_session_attrs=read-write"
    assert load({"ALMANAC_HOME": str(tmp_path), "ALMANAC_DATABASE_URL": url}).data_place == url
    assert len(problems(tmp_path, DATABASE_URL=f"postgresql://{hosts},c:0/d")) == 1


def test_all_at_once_and_no_secret_among_them(tmp_path):
    lines = problems(
        tmp_path,
        "workers = 0\nhome = '/x'\nsecret = 7\n[http]\nattempts = 'many'\nretries = 3\n[plans.team]\n[sources.us_treasury_par]\napi_key = 'k'\n",
        PORT="99999",
        SOURCES__FREDD__API_KEY="hunter2",
        WORKERS="-3",
    )
    file = tmp_path / "almanac.toml"
    assert lines == [
        "9 settings cannot be used:",
        f"{file}: workers: came 0; {WHOLE} >= 1",
        f"{file}: home: the data folder is named by the variable ALMANAC_HOME alone",
        f"{file}: secret: came a value that is not shown; allowed: text",
        f"{file}: http.attempts: came 'many'; {WHOLE}",
        f"{file}: http.retries: there is no such setting",
        f"ALMANAC_PORT: came '99999'; {WHOLE} <= 65535",
        "ALMANAC_SOURCES__FREDD__API_KEY: there is no source 'fredd'; the nearest is ALMANAC_SOURCES__FRED__API_KEY",
        f"ALMANAC_WORKERS: came '-3'; {WHOLE} >= 1",
        f"{file}: plans.team.requests_per_minute: is missing; requests_per_minute must be given for team",
    ]


CONSENT = {"BY": "someone", "ON": "2026-01-02", "REFERENCE": "an invented letter"}


def consent(**parts):
    return {f"SOURCES__FRED__CONSENT__{name}": value for name, value in {**CONSENT, **parts}.items() if value}


def test_a_consent_is_whole_and_of_a_day_that_has_come(tmp_path):
    allowed = "allowed: a day that has come, like 2026-10-01"
    name = "ALMANAC_SOURCES__FRED__CONSENT__ON"
    for on in ("2026-13-01", "yesterday", "20260101", "2126-01-01"):
        assert problems(tmp_path, **consent(ON=on)) == [f"{name}: came '{on}'; {allowed}"]
    # It is given in real time: the clock of the data does not count.
    assert problems(tmp_path, **consent(ON="2126-01-01"), NOW="2126-01-01T12:00:00Z") == [f"{name}: came '2126-01-01'; {allowed}"]  # fmt: skip
    given = {"HOME": str(tmp_path), "NOW": "2024-06-15T12:00:00Z", **consent()}
    assert load({f"ALMANAC_{key}": value for key, value in given.items()}).consent("fred") is not None
    parts = "by, on, reference must be given for fred.consent"
    assert problems(tmp_path, **consent(BY="")) == [f"ALMANAC_SOURCES__FRED__CONSENT__BY: is missing; {parts}"]
    # Where the day begins first it is a day ahead of ours for most of the time.
    today = (datetime.now(UTC) + timedelta(hours=14)).date().isoformat()
    settings = load({f"ALMANAC_{name}": value for name, value in {"HOME": str(tmp_path), **consent(ON=today)}.items()})
    assert settings.consent("fred") == Consent(by="someone", on=today, reference="an invented letter")


def test_the_file_may_write_days_as_days_and_the_environment_wins(tmp_path):
    (tmp_path / "almanac.toml").write_text(
        "port = 8080\nworkers = 2\n[plans.team]\nrequests_per_minute = 5\n"
        "[sources.fred.consent]\nby = 'someone'\non = 2026-01-02\nreference = 'a letter'\n"
    )
    settings = load({"ALMANAC_HOME": str(tmp_path), "ALMANAC_WORKERS": "3", "ALMANAC_PLANS__TEAM__HISTORY_MONTHS": "6"})
    assert (settings.port, settings.workers) == (8080, 3)
    assert settings.consent("fred") == Consent("someone", "2026-01-02", "a letter")
    assert (settings.plans["team"].requests_per_minute, settings.plans["team"].history_months) == (5, 6)
    (tmp_path / "almanac.toml").write_text("[plans]\n# [plans.team]\n")  # an empty table takes nothing away
    assert load({"ALMANAC_HOME": str(tmp_path)}).plans["pro"].requests_per_minute == 1_000


def run(home, *arguments, **env):
    return CliRunner(env={"ALMANAC_HOME": str(home), **env}).invoke(main, list(arguments))


@pytest.mark.parametrize("words", [("sources",), ("status",), ("accounts", "list"), ("keys", "list"), ("serve",)])
def test_every_command_refuses_what_cannot_be_used(tmp_path, words):
    done = run(tmp_path, *words, ALMANAC_SOURCES__FREDD__API_KEY="k", ALMANAC_TRUSTED_PROXIES="foo")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: 2 settings cannot be used:\n")
    assert "'k'" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_that_of_the_package():
    from almanac.distribution import version

    done = CliRunner().invoke(main, ["--version"])
    assert (done.exit_code, done.output) == (0, f"almanac {version()}\n")


def test_a_database_on_a_server_never_shows_its_password(tmp_path):
    chosen = load({"ALMANAC_HOME": str(tmp_path), "ALMANAC_DATABASE_URL": "postgresql://me:word@db.example/almanac"})
    assert "word" not in repr(chosen)
    assert chosen.data_place == "postgresql://me:word@db.example/almanac"


def test_the_plan_of_those_who_sign_up_is_one_of_the_plans(tmp_path):
    """Else each who signs up would be lost: whoever asks to join is told nothing either way."""
    there = "allowed: free, pro, enterprise"
    problem = f"ALMANAC_SIGNUP_PLAN: there is no plan 'fre'; the nearest is free; {there}"
    assert problems(tmp_path, SIGNUP_PLAN="fre") == [problem]
    assert problems(tmp_path, SIGNUP_PLAN="gold") == [f"ALMANAC_SIGNUP_PLAN: there is no plan 'gold'; {there}"]
    assert load({"ALMANAC_SIGNUP_PLAN": "gold", "ALMANAC_PLANS__GOLD__REQUESTS_PER_MINUTE": "5"}).signup_plan == "gold"
    (line,) = problems(tmp_path, file='signup_plan = "Pro"')
    assert line == f"{tmp_path}/almanac.toml: signup_plan: there is no plan 'Pro'; the nearest is pro; {there}"


def test_serve_refuses_what_cannot_be_served(tmp_path):
    """Ports of two listeners, a home that cannot be, and a plan that accounts are on."""

    def run(*command, **given):
        env = {"ALMANAC_HOME": str(tmp_path / "home"), **{f"ALMANAC_{name}": value for name, value in given.items()}}
        done = CliRunner().invoke(main, list(command), env=env)
        return done.exit_code, done.output

    port = str(free_port())
    code, output = run("serve", PORT=port, OPS_PORT=port)
    assert code == 1
    assert f"cannot listen on 127.0.0.1, port {port}: it is in use; choose another with ALMANAC_OPS_PORT" in output
    code, output = run("serve", WORKERS="2")
    assert (code, output.endswith("in Redis only: set ALMANAC_REDIS_URL, or serve with one\n")) == (1, True)
    (tmp_path / "file").write_text("")
    for place in ("/proc/x", str(tmp_path / "file"), str(tmp_path / "file" / "below")):
        code, output = run("serve", HOME=place)
        assert code == 1
        assert output.startswith(f"Error: ALMANAC_HOME: {place} cannot be used as the data folder: ")
    team = {"PLANS__TEAM__REQUESTS_PER_MINUTE": "5"}
    assert run("accounts", "create", "a@example.org", "--plan", "team", **team)[0] == 0
    code, output = run("serve", PORT=str(free_port()), OPS_PORT=str(free_port()), DASHBOARD="false")
    assert (code, "accounts are on plans that are not in the settings: team (" in output) == (1, True)


def test_a_command_that_is_not_told_of_the_server_is_refused(tmp_path):
    """A shell that cut the address off: the command would look into an empty file."""
    note = tmp_path / "run/served-from"
    note.parent.mkdir()
    note.write_text("postgresql://127.0.0.1/almanac\n")
    home = {"ALMANAC_HOME": str(tmp_path)}
    with pytest.raises(SettingError, match=r"ALMANAC_DATABASE_URL: is missing, while the data of .* are served from"):
        load(home)
    for given in ("postgresql://a@127.0.0.1/almanac", f"sqlite:///{tmp_path}/data.db"):
        assert load(home | {"ALMANAC_DATABASE_URL": given}).database_url == given


def test_every_setting_has_a_reader_and_a_line_in_the_documentation():
    """A setting that nobody reads is a promise that nobody keeps."""
    package, documented = ROOT / "src/almanac", (ROOT / "docs/settings.md").read_text("utf-8")
    reads = {
        node.attr
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    # Sources name the setting that is their key.
    reads |= {
        name.lower()
        for path in (package / "catalog/data").rglob("*.toml")
        for name in re.findall(r"ALMANAC_SOURCES__[A-Z_]+?__([A-Z_]+)", path.read_text("utf-8"))
    }
    for path in list_known():
        assert path[-1] in reads, path
        assert f"`ALMANAC_{'__'.join(path).upper()}`" in documented, path
