"""What is read aloud, what is a link, and what somebody else wrote stays text."""

import json
from types import SimpleNamespace

import pytest
from jinja2 import UndefinedError
from lxml import html

from .kit import LOOKS, asked, environment, macro


def parsed(markup):
    return html.fragment_fromstring(markup, create_parent="div")


def heard(markup):
    """What is read aloud: all but what is kept from readers."""
    tree = parsed(markup)
    for silent in tree.xpath("//*[@aria-hidden='true']"):
        silent.drop_tree()
    return " ".join(tree.text_content().split())


@pytest.mark.parametrize("name", LOOKS)
def test_a_value_is_read_aloud_as_its_look_says(name):
    look = LOOKS[name]
    written = macro("value(look)", "value", look=look)
    assert heard(written) == look.spoken
    (shown,) = parsed(written).xpath(f"//span[@class='v {look.state}']")
    assert shown.get("data-value") == look.full
    assert look.text in shown.text_content()


def test_a_withheld_value_leads_to_its_licence_and_says_why():
    (link,) = parsed(macro("value(look, '/sources/x')", "value", look=LOOKS["withheld"])).xpath("//a")
    assert link.get("href") == "/sources/x"
    assert heard(html.tostring(link, encoding="unicode")) == "withheld, licence forbids redistribution"


@pytest.mark.parametrize(
    ("href", "followed"),
    [
        ("/series/x:y", True),
        ("?as_of=2024-04-30", True),
        ("#table", True),
        ("https://x.example/licence", True),
        ("http://x.example/", False),
        ("//x.example/", False),
        ("/\\x.example/", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("", False),
    ],
)
def test_only_own_addresses_and_https_are_links(href, followed):
    written = parsed(macro("link('Read it', href)", "link", href=href))
    assert written.xpath("//a/@href") == [href] * followed
    assert written.text_content() == "Read it"


def test_data_for_a_script_cannot_end_its_block():
    text = json.dumps({"a": "</script><!--&\u2028\u2029"}, ensure_ascii=False)
    written = macro("data_block('x', text)", "figure", text=text)
    inside = written.partition(">")[2].rpartition("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == json.loads(text)


def test_the_requests_of_a_page_are_shown_and_never_hold_a_key():
    written = macro("same_by_api(asked)", "code", asked=[asked(), asked("/rates")])
    assert parsed(written).xpath("//code/text()") == [asked().curl, asked("/rates").curl]
    assert "No number on this page is from the API." in macro("same_by_api(())", "code")
    with pytest.raises(UndefinedError, match="a_request_names_the_key_by_its_variable"):
        macro(
            "same_by_api(asked)",
            "code",
            asked=[SimpleNamespace(path_and_query="/x", curl="curl -H 'x-api-key: alm_1' http://x/x")],
        )


def test_a_field_says_its_hint_and_its_error_to_readers_too():
    tree = parsed(macro("field('name', 'Name', 'x', 'So that you know.', 'Enter a name')", "form"))
    (control,) = tree.xpath("//input")
    assert (control.get("aria-invalid"), control.get("value")) == ("true", "x")
    told = [tree.xpath(f"//*[@id='{one}']")[0].text_content() for one in control.get("aria-describedby").split()]
    assert told == ["So that you know.", "Error: Enter a name"]
    assert tree.xpath(f"//label[@for='{control.get('id')}']/text()") == ["Name"]
    plain = parsed(macro("field('name', 'Name')", "form")).xpath("//input")[0]
    assert {"aria-invalid", "aria-describedby"} & set(plain.keys()) == set()


def test_a_password_is_never_written_back():
    assert "hunter2" not in macro(
        "field('password', 'Password', 'hunter2', type='password', error='Too short')", "form"
    )


def test_names_are_escaped_in_attributes_too():
    written = (
        environment()
        .from_string('{% from "parts/form.html" import field %}{{ field("n", "N", value) }}')
        .render(value='" onfocus="x()')
    )
    assert parsed(written).xpath("//input/@onfocus") == []
    assert parsed(written).xpath("//input/@value") == ['" onfocus="x()']
