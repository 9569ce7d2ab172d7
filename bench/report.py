"""The results of all rounds: medians, spread, percentiles, and a table in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Round(NamedTuple):
    """
    One contender in one round: requests per second, server CPU in microseconds per request, the client's CPU share,
    latencies in microseconds, and bytes per answer.
    """

    rate: float
    server_cpu: float | None
    client_share: float
    latencies: list[int]
    size: float


class Line(NamedTuple):
    """
    One contender over all rounds. `ratio` is the median of each round's rate divided by the first contender's.

    `cpu_ratio` is the same ratio for answers per second of server CPU, which other processes on the machine disturb
    less.
    """

    name: str
    ratio: float
    low: float
    high: float
    cpu_ratio: float | None
    rate: float
    p50: float
    p99: float
    server_cpu: float | None
    client_share: float
    size: float


def percentile(values: Sequence[int], share: float) -> float:
    """Return the value below which a share of the values lies, by nearest rank."""
    ordered = sorted(values)
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * share))])


def lines(rounds: Mapping[str, Sequence[Round]]) -> list[Line]:
    """Return one line for each contender, in order. The first is the floor."""
    floor = next(iter(rounds.values()))
    found: list[Line] = []
    for name, own in rounds.items():
        ratios = [one.rate / base.rate for one, base in zip(own, floor, strict=True)]
        every = [latency for one in own for latency in one.latencies]
        cpu = [one.server_cpu for one in own if one.server_cpu is not None]
        shares = [
            base.server_cpu / one.server_cpu
            for one, base in zip(own, floor, strict=True)
            if one.server_cpu and base.server_cpu
        ]
        found.append(
            Line(
                name,
                statistics.median(ratios),
                min(ratios),
                max(ratios),
                statistics.median(shares) if shares else None,
                statistics.median(one.rate for one in own),
                percentile(every, 0.50) / 1000,
                percentile(every, 0.99) / 1000,
                statistics.median(cpu) if cpu else None,
                statistics.median(one.client_share for one in own),
                statistics.median(one.size for one in own),
            )
        )
    return found


def against(ours: str, rounds: Mapping[str, Sequence[Round]], peers: Sequence[str]) -> str:
    """Return a Markdown table of how many times as many answers per second a contender gives as each peer."""
    rows = [f"| {ours}, times the rate of | median | least to most | by CPU |", "| --- | --: | --: | --: |"]
    for name in peers:
        pairs = list(zip(rounds[ours], rounds[name], strict=True))
        ratios = [one.rate / other.rate for one, other in pairs]
        cpu = [other.server_cpu / one.server_cpu for one, other in pairs if one.server_cpu and other.server_cpu]
        share = f"{statistics.median(cpu):.1f}" if cpu else ""
        rows.append(f"| {name} | {statistics.median(ratios):.1f} | {min(ratios):.1f} to {max(ratios):.1f} | {share} |")
    return "\n".join(rows)


def table(found: Sequence[Line]) -> str:
    """Return the lines as a Markdown table."""
    rows = [
        "| | ratio to the first | least to most | ratio by CPU | answers/s | p50 ms | p99 ms | server CPU µs/answer | KB | client's core |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for line in found:
        cpu = "" if line.server_cpu is None else f"{line.server_cpu:,.0f}"
        share = "" if line.cpu_ratio is None else f"{line.cpu_ratio:.3f}"
        rows.append(
            f"| {line.name} | {line.ratio:.3f} | {line.low:.3f} to {line.high:.3f} | {share} | {line.rate:,.0f} | {line.p50:.1f}"
            f" | {line.p99:.1f} | {cpu} | {line.size / 1000:.0f} | {line.client_share:.0%} |"
        )
    return "\n".join(rows)
