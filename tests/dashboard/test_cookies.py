"""The cookies of a request: ours alone, and in time that grows with the header and no faster."""

from __future__ import annotations

from starlette.responses import Response

from almanac.dashboard import cookies


def test_ours_are_read_and_no_others() -> None:
    header = "theirs=1; almanac=abc;almanac-form=d=e ; __Host-almanac=g; almanac-theme=dark; x; =y; almanac-x=1"
    assert cookies.read(header) == {
        "almanac": "abc", "almanac-form": "d=e", "__Host-almanac": "g", "almanac-theme": "dark"
    }  # fmt: skip


def test_what_is_written_is_read_again() -> None:
    for secure in (True, False):
        made = cookies.form_cookie()
        response = Response()
        cookies.write(response, made, secure=secure)
        sent = response.headers["set-cookie"].partition(";")[0]
        assert cookies.read(f"a=b; {sent}") == {cookies.named(made.name, secure=secure): made.value}


def test_of_two_the_last_counts_and_of_what_is_too_long_none() -> None:
    assert cookies.read("almanac=a; almanac=b") == {"almanac": "b"}
    assert cookies.read(f"almanac={'a' * 201}") == {}
    assert cookies.read('almanac="\\101\\102"') == {"almanac": '"\\101\\102"'}
