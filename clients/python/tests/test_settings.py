"""Where address and key come from, in which order, and what is refused."""

import sys
import types

import pytest

import almanac_client as a
from almanac_client._settings import is_loopback, options

KEY = "alm_live_secret"


@pytest.fixture
def env(tmp_path, monkeypatch):
    """An environment without a key, and a folder for the file of profiles."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    return {"XDG_CONFIG_HOME": str(tmp_path)}


@pytest.fixture
def toml(tmp_path):
    def write(text, mode=0o600):
        path = tmp_path / "almanac/client.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


def found(env, **given):
    made = options(environment=env, **given)
    return made.url, made.key._text, made.key.origin


def test_the_first_place_that_has_a_key_counts(env, toml, tmp_path, monkeypatch):
    rings = types.SimpleNamespace(get_password=lambda service, user: f"ring-{service}-{user}")
    monkeypatch.setitem(sys.modules, "keyring", rings)
    assert found(env) == ("http://127.0.0.1:8000", "ring-almanac-client-default", "the keyring")
    path = toml('[default]\napi_key = "filed"\nurl = "https://almanac.example/"\n')
    monkeypatch.setitem(sys.modules, "keyring", None)  # asked no more
    assert found(env) == ("https://almanac.example", "filed", str(path))
    named = tmp_path / "key"
    named.write_text("named\n")
    env["ALMANAC_API_KEY_FILE"] = str(named)
    assert found(env)[1:] == ("named", "ALMANAC_API_KEY_FILE")
    env["ALMANAC_API_KEY"] = "said"
    env["ALMANAC_URL"] = "https://other.example"
    assert found(env) == ("https://other.example", "said", "ALMANAC_API_KEY")
    assert found(env, api_key="given", url="https://mine.example") == ("https://mine.example", "given", "api_key")


def test_profiles(env, toml):
    path = toml('[default]\napi_key = "one"\n[lab]\napi_key = "two"\n')
    assert found(env, profile="lab")[1] == "two"
    assert found({**env, "ALMANAC_PROFILE": "lab"})[1] == "two"
    with pytest.raises(a.SettingsError, match="no profile 'labs'; there is default, lab"):
        found(env, profile="labs")
    path.unlink()
    with pytest.raises(a.SettingsError, match="no profile 'lab'; there is none"):
        found(env, profile="lab")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_can_read_is_refused(env, toml, mode):
    path = toml('[default]\napi_key = "alm_live_secret"\n', mode)
    with pytest.raises(a.SettingsError, match=f"chmod 600 {path}") as caught:
        found(env)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[default\napi_key = 'alm_live_secret'", "[default]\napikey = 'alm_live_secret'", "default = 'alm_live_secret'",
             "[default]\napi_key = 5"],
)  # fmt: skip
def test_a_file_that_says_something_else_is_refused_without_repeating_it(env, toml, text):
    path = toml(text)
    with pytest.raises(a.SettingsError, match=str(path)) as caught:
        found(env)
    assert KEY not in str(caught.value)


def test_without_a_key_the_message_says_where_one_is_looked_for(env, monkeypatch):
    with pytest.raises(a.MissingKey) as caught:
        found(env)
    for place in ("api_key", "ALMANAC_API_KEY", "ALMANAC_API_KEY_FILE", "client.toml", "keyring"):
        assert place in str(caught.value)

    def locked(*_):
        raise RuntimeError("no screen")

    monkeypatch.setitem(sys.modules, "keyring", types.SimpleNamespace(get_password=locked))
    with pytest.raises(a.MissingKey):
        found(env)


def test_a_named_file_that_is_not_there_is_named(env, tmp_path):
    with pytest.raises(a.SettingsError, match="nowhere"):
        found({**env, "ALMANAC_API_KEY_FILE": str(tmp_path / "nowhere")})


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "line\nbreak", "nul\0"])
def test_what_cannot_be_a_key_is_refused_without_repeating_it(key):
    with pytest.raises(a.SettingsError, match="from api_key") as caught:
        a.Almanac(api_key=key)
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://[::1]:8000/", "http://localhost", "https://almanac.example"]
)
def test_addresses_that_a_key_may_go_to(url):
    assert a.Almanac(url=url, api_key=KEY)._core.options.url == url.rstrip("/")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://almanac.example", "plain HTTP"),
        ("http://10.0.0.1:8000", "plain HTTP"),
        ("http://127.0.0.1.evil.example", "plain HTTP"),
        ("almanac.example", "has to begin"),
        ("ftp://almanac.example", "has to begin"),
        ("https://", "has to begin"),
        ("https://user:alm_live_secret@almanac.example", "no user"),
        ("https://almanac.example?api_key=alm_live_secret", "no user, no query"),
    ],
)
def test_addresses_that_no_key_goes_to(url, told):
    with pytest.raises(a.SettingsError, match=told) as caught:
        a.Almanac(url=url, api_key=KEY)
    assert KEY not in str(caught.value)


def test_insecure_is_said_out_loud():
    almanac = a.Almanac(url="http://almanac.example", api_key=KEY, insecure=True)
    assert repr(almanac) == "<Almanac http://almanac.example, key from api_key>"
    with pytest.raises(a.SettingsError, match="plain HTTP"):
        a.Almanac(api_key=KEY).with_options(url="http://almanac.example")


@pytest.mark.parametrize(
    ("host", "local"), [("127.8.9.1", True), ("::1", True), ("x.localhost", True), ("0.0.0.0", False)]
)
def test_loopback(host, local):
    assert is_loopback(host) is local


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"max_retries": -1}, {"max_retry_wait": "1"}, {"max_retries": True}, {"timeout": float("nan")}])  # fmt: skip
def test_options_that_make_no_sense_are_named(wrong):
    with pytest.raises(a.SettingsError, match=next(iter(wrong))):
        a.Almanac(api_key=KEY, **wrong)
    with pytest.raises(a.SettingsError, match=next(iter(wrong))):
        a.Almanac(api_key=KEY).with_options(**wrong)


def test_an_option_that_there_is_not_is_a_type_error():
    with pytest.raises(TypeError, match="time_out"):
        a.Almanac(api_key=KEY).with_options(time_out=1)


def test_a_proxy_of_the_environment_does_not_see_what_is_for_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    for url in ("http://[::1]:9", "http://[::1]", "http://127.0.0.1/almanac", "http://localhost:9/almanac"):
        driver = a.Almanac(api_key=KEY, url=url)._core.driver
        assert driver._client_options() == {"follow_redirects": False, "trust_env": False}
    driver = a.Almanac(api_key=KEY, url="https://almanac.example")._core.driver
    assert driver._client_options()["trust_env"] is True


def test_connections_are_closed_and_a_client_of_ones_own_is_not():
    with a.Almanac(api_key=KEY, url="http://127.0.0.1:9", max_retries=0) as almanac:
        with pytest.raises(a.ConnectionFailed):
            almanac.coverage()
        inner = almanac._core.driver._http
    assert inner.is_closed
    import httpx2

    own = httpx2.Client()
    with a.Almanac(api_key=KEY, http_client=own):
        pass
    assert not own.is_closed
    own.close()
