"""
Asks a model the twenty questions and reports how many it answers, with how many calls and characters.

The model is behind a server that speaks the usual chat-completions form with tools. The world is that of the tests, in a
folder of its own, and the tools run in this process: nothing leaves it but what is said to the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from clients.mcp.tests.known import withheld_values
from clients.mcp.tests.world import Served, build
from mcp.client.client import Client

from almanac_mcp.guide import INSTRUCTIONS

from .questions import QUESTIONS, Question, numbers_in

#: Turns of a model before its time is up.
_MOST_TURNS = 8
#: How far a rounded number may lie from the exact one, as a share of it.
_ROUNDING = 0.006
_ASKED = "Answer in one or two sentences, with the numbers, periods and days asked for."


@dataclass
class Outcome:
    """The outcome of one question."""

    question: Question
    answer: str
    calls: int
    characters: int
    faults: list[str]


def faults(question: Question, answer: str, home: Path) -> list[str]:
    """Return what an answer lacks, and what it reveals although the value is withheld."""
    held = numbers_in(answer)
    found = [f"{one} is missing" for one in question.numbers if not any(_near(one, other) for other in held)]
    patterns = question.model or [re.escape(words) for words in question.says]
    found += [f"{one!r} is missing" for one in patterns if not re.search(one, answer, re.IGNORECASE)]
    for series in question.withheld:
        told = {float(one) for one in withheld_values(home, series)} & held
        # Whole numbers stand in any sentence, in a date for one.
        found += [f"{one} is withheld, and was told" for one in sorted(told) if not one.is_integer()]
    return found


def _near(exact: float, told: float) -> bool:
    """
    Return whether a number is the exact one, rounded. A change may lack its sign, and money may be in thousands or
    millions.
    """
    return any(abs(abs(told) * scale - abs(exact)) <= abs(exact) * _ROUNDING for scale in (1, 1e3, 1e6))


class Runner:
    """One model over one world."""

    def __init__(self, http: httpx2.AsyncClient, model: str, served: Served) -> None:
        self._http = http
        self._model = model
        self._served = served

    async def run(self, questions: Iterable[Question]) -> list[Outcome]:
        """Ask the questions one by one."""
        async with Client(self._served.server()) as client:
            tools = [
                {
                    "type": "function",
                    "function": {"name": one.name, "description": one.description, "parameters": one.input_schema},
                }
                for one in (await client.list_tools()).tools
            ]
            return [await self._ask(client, tools, one) for one in questions]

    async def _ask(self, client: Client, tools: list[dict[str, Any]], question: Question) -> Outcome:
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": f"{INSTRUCTIONS}\n\n{_ASKED}"},
            {"role": "user", "content": question.ask},
        ]
        calls = characters = 0
        said = ""
        for _ in range(_MOST_TURNS):
            told = await self._http.post(
                "chat/completions", json={"model": self._model, "messages": messages, "tools": tools, "temperature": 0}
            )
            told.raise_for_status()
            message = told.json()["choices"][0]["message"]
            said = message.get("content") or ""
            asked = message.get("tool_calls") or []
            if not asked:
                break
            messages.append(message)
            for one in asked:
                text = await _called(client, one["function"])
                calls, characters = calls + 1, characters + len(text)
                messages.append({"role": "tool", "tool_call_id": one["id"], "content": text})
        return Outcome(question, said, calls, characters, faults(question, said, self._served.home))


async def _called(client: Client, function: dict[str, Any]) -> str:
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        return "error: the arguments are not JSON"
    result = await client.call_tool(function["name"], arguments)
    return "\n".join(one.text for one in result.content if one.type == "text")


def report(outcomes: list[Outcome]) -> str:
    """Return one line for each question, and the totals."""
    lines = [
        f"{'yes' if not one.faults else 'NO ':3} {one.calls:2} calls {one.characters:6} characters  {one.question.about}"
        + "".join(f"\n      {fault}" for fault in one.faults)
        for one in outcomes
    ]
    right = sum(not one.faults for one in outcomes)
    calls, characters = sum(one.calls for one in outcomes), sum(one.characters for one in outcomes)
    lines.append(f"{right} of {len(outcomes)} answered, {calls} calls, {characters} characters of answers")
    return "\n".join(lines)


async def _main(given: argparse.Namespace) -> list[Outcome]:
    key = os.environ.get(given.key_variable, "")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        build(home)
        url = given.url.rstrip("/") + "/"
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=given.timeout) as http:
            return await Runner(http, given.model, Served.over(home)).run(QUESTIONS[: given.first])


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="address of the model's server, up to and with /v1")
    parser.add_argument("--model", required=True, help="name of the model")
    parser.add_argument(
        "--key-variable", default="MODEL_API_KEY", help="variable that holds the model's key, if it needs one"
    )
    parser.add_argument("--first", type=int, default=len(QUESTIONS), help="only so many questions")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one turn of the model")
    outcomes = asyncio.run(_main(parser.parse_args()))
    print(report(outcomes))
    sys.exit(0 if all(not one.faults for one in outcomes) else 1)


if __name__ == "__main__":
    main()
