"""Charts in other pages: nowhere unless the operator says where, and never more than anybody may see."""

import html
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import httpx2
import pytest

from almanac.dashboard.middleware import CONTENT_SECURITY_POLICY, frame_policy
from tests.support.browser import Browser
from tests.support.service import Service, copy

from .conftest import dashboard
from .test_series import CPI, YIELD

ORIGINS = ("https://blog.example", "http://127.0.0.1:8080")
PATHS = (f"/embed/series/{CPI}", "/embed/compare?indicator=gov_yield_10y&entities=usa,jpn")


@pytest.fixture(scope="module")
def allowed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str | None], Browser]]:
    """Browsers before a dashboard whose charts two origins may show; None: of nobody."""
    home = copy(built, tmp_path_factory.mktemp("embedding") / "home")
    service = Service(home, {"EMBED_ORIGINS": ",".join(ORIGINS)})
    app = dashboard(service)

    def made(plan: str | None = None) -> Browser:
        one = Browser(app)
        if plan is not None:
            one.cookies["almanac"] = plan
        return one

    yield made
    service.close()


def frames(answer: httpx2.Response) -> list[str]:
    """Who may have an answer in a frame."""
    directives = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    return directives["frame-ancestors"].split(" ")


def words(answer: httpx2.Response) -> str:
    main = answer.text[answer.text.index("<main") : answer.text.index("</main>")]
    main = re.sub(r"<script.*?</script>", " ", main, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).replace("\xa0", " ").split())


@pytest.mark.parametrize("path", PATHS)
def test_without_the_setting_there_is_no_such_page(browser, path):
    for one in (browser("pro"), browser("nobody")):
        answer = one.get(path)
        assert answer.status_code == 404
        assert frames(answer) == ["'none'"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert '<svg class="chart' not in answer.text
    assert "iframe" not in browser().get(f"/series/{CPI}").text


@pytest.mark.parametrize("path", PATHS)
def test_the_named_origins_may_show_a_chart_and_nobody_else(allowed, path):
    answer = allowed().get(path)
    assert answer.status_code == 200
    assert frames(answer) == list(ORIGINS)
    # That header knows no names of origins, and an old browser would obey it.
    assert "x-frame-options" not in answer.headers
    assert answer.text.count('<svg class="chart') == 3
    # All else of the policy stands as it is.
    loosened = answer.headers["content-security-policy"].replace(" ".join(ORIGINS), "'none'")
    assert loosened == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    "path", ["/", "/signin", f"/series/{CPI}", "/compare?indicator=gov_yield_10y&entities=usa", "/keys", "/nowhere"]
)
def test_no_other_page_may_be_in_a_frame(allowed, path):
    for one in (allowed(), allowed("pro")):
        answer = one.get(path)
        assert frames(answer) == ["'none'"]
        assert answer.headers["x-frame-options"] == "DENY"


def test_it_says_what_it_shows_of_whom_under_which_licence_on_which_day_and_where_from(allowed):
    answer = allowed().get(f"/embed/series/{CPI}", as_of="2026-11-17")
    text = words(answer)
    assert "Consumer price index" in text
    assert "U.S. Bureau of Labor Statistics" in text
    assert "Licence:" in text
    assert "As known on 17 Nov 2026." in text
    (link,) = re.findall(r'<a href="([^"]*)" target="_blank" rel="noopener">', answer.text)
    assert link == f"http://127.0.0.1:8001/series/{CPI}?as_of=2026-11-17"
    assert "As known today, 20 Nov 2026." in words(allowed().get(f"/embed/series/{CPI}"))
    compared = words(
        allowed().get(
            PATHS[1],
        )
    )
    assert "10-year government yield, United States and Japan" in compared
    assert "Ministry of Finance" in compared


def test_whoever_looks_sees_what_anybody_sees(allowed, service):
    """Somebody signed in, with all of the archive or with a window: the same bytes, with no cookie and nothing of an account."""
    each_time = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}")
    for path in (
        *PATHS,
        f"/embed/series/{CPI}?events=all",
        f"/embed/series/{YIELD}?sources=all&from=all",
        f"{PATHS[1]}&events=all",
    ):
        answers = [allowed(plan).get(path) for plan in (None, "free", "pro")]
        assert len({each_time.sub("", answer.text) for answer in answers}) == 1
        assert all("set-cookie" not in answer.headers for answer in answers)
        assert "example.org" not in answers[2].text
    # As far back as the free plan reaches, though there is more.
    oldest = {
        plan: service.ok("/observations", plan, indicator="cpi_index_nsa", order="asc", limit=1)[0]
        for plan in ("free", "pro")
    }
    begins = {plan: date.fromisoformat(row["periodStart"][:10]).toordinal() for plan, row in oldest.items()}
    assert begins["pro"] < begins["free"]
    shown = re.findall(r'data-x="(\d+) ', allowed("pro").get(PATHS[0]).text)
    assert {int(day) for day in shown} == {begins["free"]}


@pytest.mark.parametrize(
    "origin", ["*", "https://a.example; script-src *", "'self'", "https:", "https://a.example/path", "a.example"]
)
def test_no_policy_is_made_of_what_is_no_origin(origin):
    with pytest.raises(ValueError, match="no page may be in a frame of"):
        frame_policy((origin,))
