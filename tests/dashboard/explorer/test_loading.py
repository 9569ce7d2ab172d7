"""While something is loaded every page says what, to those who are signed in; afterwards none does."""

from almanac.load_state import noted


def test_pages_say_what_is_still_loading(browser, service):
    one, stranger = browser("pro"), browser("nobody")
    assert "Still loading" not in one.get("/").text
    with noted(service.settings.home, "the simulated world") as note:
        shown = one.get("/").text
        assert "Still loading the simulated world. Until then pages may lack what is yet to come." in shown
        note("pages, 1,200 of 9,000 <b>")
        assert "Still loading the simulated world: pages, 1,200 of 9,000 &lt;b&gt;. Until" in one.get("/sources").text
        assert "Still loading" not in stranger.get("/signin").text
    assert "Still loading" not in one.get("/sources").text
