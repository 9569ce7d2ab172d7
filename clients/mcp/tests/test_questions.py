"""The twenty questions: each is answered by the calls written beside it, and refused where the number is withheld."""

import re

import pytest
from clients.mcp.evals.questions import QUESTIONS, numbers_in

from .known import withheld_values


def test_there_are_twenty_of_several_kinds():
    assert len(QUESTIONS) == 20
    kinds = {one.about.split(",")[0].split(" ")[0] for one in QUESTIONS}
    assert {"as", "revision", "restatement", "withheld", "screen", "ambiguity"} <= kinds
    assert sum(bool(one.withheld) for one in QUESTIONS) == 3


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.about)
def test_the_trace_finds_the_answer(model, served, question):
    assert 1 <= len(question.trace) <= 5

    async def walk(client):
        return [(call, await client.call_tool(call.tool, call.arguments)) for call in question.trace]

    done = model.ask(walk)
    assert [result.is_error for _, result in done] == [call.fails for call, _ in done]
    texts = [result.content[0].text for _, result in done]
    held = numbers_in(texts[-1])
    assert [one for one in question.numbers if one not in held] == []
    assert [words for words in question.says if words not in texts[-1]] == []
    for series in question.withheld:
        values = withheld_values(served.home, series)
        assert len(values) > 50
        shown = set(re.findall(r"(?<![\w.-])-?\d+\.\d+(?![\w.])", "\n".join(texts)))
        assert values & shown == set()


def test_no_answer_stands_in_the_question(model):
    """An answer that could be read off the question would check nothing."""
    for question in QUESTIONS:
        assert numbers_in(question.ask) & set(question.numbers) == set(), question.ask
