"""Tutorials are followed block by block, and every request of the reference is made."""

import ast

import pytest

from tests.support.paths import ROOT
from tools.docs import clients
from tools.docs.reference import FOLDER, pages
from tools.docs.served import Service
from tools.docs.tables_interface import every

from .session import NODE, Session, blocks, listening

#: The guide to the dashboard has addresses in place of requests: tests/dashboard/explorer/test_guide.py opens them.
TUTORIALS = [
    ROOT / "docs/start.md",
    *(path for path in sorted((ROOT / "docs/tutorials").glob("*.md")) if path.stem != "dashboard"),
]
REFERENCE = [path for path in sorted(FOLDER.glob("*.md")) if path.name != "index.md"]

needs_node = pytest.mark.skipif(NODE is None, reason="no node is here")


@pytest.fixture(scope="session")
def address(service: Service):
    with listening(service) as url:
        yield url


@pytest.fixture
def session(service, address, monkeypatch):
    environment = {"ALMANAC_API_KEY": service.key, "ALMANAC_URL": address}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    opened = Session(service, address, environment)
    yield opened
    opened.close()


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_shows(page, session):
    if NODE is None and any(language == "js" for language, _ in blocks(page)):
        pytest.skip("no node is here, which runs the JavaScript of this page")
    for language, text in blocks(page):
        try:
            session.follow(language, text)
        except AssertionError as error:
            raise AssertionError(f"{page.relative_to(ROOT)}: {text}\n{error}") from error
    assert session.compared >= 2


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_a_request_of_the_reference_is_answered(page, session):
    for language, text in blocks(page):
        if language in {"bash", "python"}:
            session.follow(language, text)
            assert not isinstance(session._answer, dict) or "error" not in session._answer
    assert session.run >= 1


def test_the_reference_is_in_step():
    assert {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")} == pages(), "run `make docs`"


def declared_tools(folder):
    """The tools that a folder of modules declares, and the names of their arguments."""
    trees = [ast.parse(path.read_text("utf-8")) for path in folder.rglob("src/**/*.py")]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]
    return {
        node.name: {arg.arg for arg in node.args.args + node.args.kwonlyargs}
        for node in functions
        if "almanac_" in node.name
    }


def test_tools_that_the_reference_shows_are_there():
    if not clients.TOOLS_FOLDER.is_dir():
        pytest.skip("the tools for language models are not in this repository")
    declared = declared_tools(clients.TOOLS_FOLDER)
    wrong = [
        (operation, name)
        for operation, (name, arguments) in clients.TOOLS.items()
        if not arguments.keys() <= declared.get(name, set())
    ]
    assert wrong == []


def test_every_tool_asks_for_a_declared_operation():
    assert clients.TOOLS.keys() <= {endpoint.operation_id for endpoint in every()}


@pytest.mark.parametrize(
    ("language", "text", "message"),
    [
        ("bash", "wget http://127.0.0.1:8000/coverage\n", "wget is not run"),
        ("python", "assert 1 == 2, 'they differ'\n", "they differ"),
        ("json", '{"data": {"countries": -1}}', "-1 is shown"),
        ("text", "printed nothing of this", "printed was"),
        pytest.param("js", "throw new Error('they differ')", "they differ", marks=needs_node),
        pytest.param("js", "console.warn('in vain')", "in vain", marks=needs_node),
    ],
)
def test_a_page_that_is_wrong_is_found(session, language, text, message):
    session.follow("bash", 'curl -H "x-api-key: $ALMANAC_API_KEY" http://127.0.0.1:8000/coverage\n')
    session.follow("python", "print('this   and', 'that')\n")
    session.follow("text", "this and …")
    with pytest.raises(AssertionError, match=message):
        session.follow(language, text)
