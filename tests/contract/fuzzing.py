"""Requests generated from the service's own description, good and bad, and the checks each answer must pass."""

import asyncio
from typing import Any
from urllib.parse import unquote, urlsplit

import hypothesis
import requests
import schemathesis
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tests.support.service import Service

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]


def fuzz(service: Service, told: dict[str, Any], total: int) -> int:
    """Send about so many generated requests, as many to each operation; how many were sent. Raises at a wrong answer."""
    found = [one.ok() for one in schemathesis.openapi.from_dict(told).get_all_operations()]
    # A HEAD is answered by the same code as its GET, and what generated ones find in it the GET has found.
    operations = [one for one in found if one.method == "get"]
    varied = [one for one in operations if one.query or one.path_parameters]
    sent = 0
    for operation in operations:
        cases = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        if operation in varied:
            cases |= operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

        @hypothesis.settings(
            max_examples=-(-total // len(varied)),
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.generate],
        )
        @hypothesis.given(cases)
        def ask(case: Case) -> None:
            nonlocal sent
            sent += 1
            case.validate_response(answer(service, case), checks=CHECKS)

        ask()
    return sent


def answer(service: Service, case: Case) -> Response:
    """Send a case to the application as a server would hand it over, byte for byte."""
    kwargs = case.as_transport_kwargs(base_url="http://api.example", headers={"x-api-key": service.keys["pro"]})
    prepared = requests.Request(**{name: value for name, value in kwargs.items() if name != "timeout"}).prepare()
    url = urlsplit(str(prepared.url))
    body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body or b""
    scope = {
        "type": "http",
        "method": prepared.method,
        "path": unquote(url.path, errors="replace"),
        "raw_path": url.path.encode(),
        "query_string": url.query.encode(),
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in prepared.headers.items()
            if name.lower() != "accept-encoding"  # nobody here would decode the body
        ],
        "client": ("127.0.0.1", 5000),
        "http_version": "1.1",
    }
    told: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(service.app(scope, receive, send))
    headers: dict[str, list[str]] = {}
    for name, value in told[0]["headers"]:
        headers.setdefault(name.decode(), []).append(value.decode())
    return Response(
        told[0]["status"], headers, b"".join(part.get("body", b"") for part in told[1:]), prepared, 0.0, False
    )
