"""The tutorials of the dashboard are those of the documentation."""

import re

import pytest
from markupsafe import escape

from almanac.dashboard.explorer.tutorials import TUTORIALS
from almanac.dashboard.site import templates as environment
from almanac.dashboard.statics import Statics
from tests.support.service import settings
from tools.docs.dashboard_tutorials import FOLDER, GUIDE, SOURCE, heading_id, template, templates

from .shown import blocks

ADDRESS = "https://api.example"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    chosen = settings(tmp_path_factory.mktemp("tutorials"), BASE_URL=ADDRESS)
    return environment(chosen, Statics())


def test_they_are_in_step():
    assert {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.html")} == templates(), "run `make docs`"


def test_none_is_left_out_and_each_has_its_title():
    titles = {path.stem: path.read_text("utf-8").splitlines()[0] for path in SOURCE.glob("*.md")}
    assert titles == {name: f"# {title}" for name, title, *_ in TUTORIALS}


@pytest.mark.parametrize("name", [name for name, *_ in TUTORIALS])
def test_every_block_is_shown_with_the_address_of_the_service(made, name):
    shown = made.get_template(f"tutorials/{name}.html").render()
    code = re.findall(r'<pre><code id="code-\d+">(.*?)</code>', shown, re.DOTALL)
    told = [text.rstrip("\n").replace("http://127.0.0.1:8000", ADDRESS) for _, text in blocks(SOURCE / f"{name}.md")]
    assert code == [str(escape(text)) for text in told]
    assert "127.0.0.1:8000" not in shown
    assert name == GUIDE or not re.search(r'href="(?!/tutorials/|/console)', shown)
    for page, heading in re.findall(r'href="/tutorials/([^"#]+)#([^"]+)"', shown):
        assert f'id="{heading}"' in made.get_template(f"tutorials/{page}.html").render()


def test_what_looks_like_a_template_is_text(made):
    text = '# T\n\n`{{ api_url }}` {% raw %} <b> [a](../settings.md) [b](companies.md#of-which) **c**\n\n```x\n{{ 1 }} "q" \\n\n```\n'
    shown = made.from_string(template(text)).render()
    assert "<code>{{ api_url }}</code> {% raw %} &lt;b&gt; a <a" in shown.replace("&#123;", "{").replace("&#125;", "}")
    assert '<a href="/tutorials/companies#of-which">b</a> <strong>c</strong>' in shown
    assert "{{ 1 }} &#34;q&#34; \\n</code>" in shown
    assert heading_id("In Python: `a` and b") == "in-python-a-and-b"
