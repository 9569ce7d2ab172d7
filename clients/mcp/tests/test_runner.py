"""The runner of the evaluation, with a model that plays from a script: no network, and what it reports is counted here."""

import asyncio
import json

import httpx2
import pytest
from clients.mcp.evals.questions import QUESTIONS
from clients.mcp.evals.run import Runner, faults, report


class Player:
    """A server of a model: makes the calls written beside each question, then says what `answer` makes of their texts."""

    def __init__(self, answer):
        self.answer = answer

    async def __call__(self, scope, receive, send):
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        told = json.loads(body)
        assert scope["path"] == "/v1/chat/completions"
        assert len(told["tools"]) == 10
        question = next(one for one in QUESTIONS if one.ask == told["messages"][1]["content"])
        texts = [one["content"] for one in told["messages"] if one["role"] == "tool"]
        if len(texts) < len(question.trace):
            call = question.trace[len(texts)]
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": function}],
            }
        else:
            message = {"role": "assistant", "content": self.answer(question, texts)}
        content = json.dumps({"choices": [{"message": message}]}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": content})


def play(served, answer, questions=QUESTIONS):
    async def run():
        transport = httpx2.ASGITransport(Player(answer))
        async with httpx2.AsyncClient(transport=transport, base_url="http://model.example/v1/") as http:
            return await Runner(http, "player", served).run(questions)

    return asyncio.run(run())


def test_a_model_that_reads_its_answers_out_has_them_all_right(served):
    outcomes = play(served, lambda _, texts: texts[-1])
    assert [(one.question.about, one.faults) for one in outcomes if one.faults] == []
    assert report(outcomes).splitlines()[-1].startswith("20 of 20 answered, 27 calls, ")
    assert sum(one.calls for one in outcomes) == sum(len(one.trace) for one in QUESTIONS)
    assert all(one.characters > 100 for one in outcomes)


def test_a_model_that_says_nothing_has_none_right(served):
    outcomes = play(served, lambda *_: "I do not know.", QUESTIONS[:9])
    assert report(outcomes).splitlines()[-1].startswith("0 of 9 answered, ")


@pytest.mark.parametrize(
    ("number", "answer", "right"),
    [
        (2.22199579375, "It grew by 2.22 %.", True),
        (2.22199579375, "It grew by 2.2 %.", False),
        (35655000, "They were $35.655 million.", True),
        (35655000, "They were 35,655,000 dollars.", True),
        (-0.028, "It was revised down by 0.028 points.", True),
        (3.48565994719, "It grew by 2.22 %.", False),
    ],
)
def test_rounded_numbers_count(served, number, answer, right):
    question = next(one for one in QUESTIONS if number in one.numbers and len(one.numbers) == 1)
    missing = [
        one
        for one in faults(question, answer, served.home)
        if one == f"{float(number)} is missing" or one == f"{number} is missing"
    ]
    assert (missing == []) == right


def test_telling_a_withheld_number_is_a_fault(served):
    from .known import withheld_values

    question = next(one for one in QUESTIONS if one.about == "withheld")
    value = next(
        one for one in sorted(withheld_values(served.home, question.withheld[0])) if not float(one).is_integer()
    )
    assert faults(question, "It is withheld, for its licence.", served.home) == []
    assert faults(question, f"It is withheld, but about {value}.", served.home) == [
        f"{float(value)} is withheld, and was told"
    ]
