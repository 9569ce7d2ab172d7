"""The guide on using the tools well, for a model: the server's instructions, and a resource."""

from __future__ import annotations

INSTRUCTIONS = """\
Almanac serves official economic and company data with their history: what was known on any day, who published it, and \
under which licence. Find exact ids with almanac_find, then ask. Cite the numbered sources of an answer. A value that is \
`withheld` exists and may not be shown: say so, give the reason, do not estimate it. For "as known on" questions pass \
as_of; never correct past numbers by today's. Read almanac://guide for more."""

GUIDE = """\
# Almanac: a guide for language models

## Which tool

- What is it called? almanac_find. Other tools take exact ids only: slugs of indicators, ISO codes or entity ids of places.
- Values over time: almanac_series. One table of newest readings: almanac_latest. A whole country: almanac_brief.
- How a number was revised or restated: almanac_revisions. What was known on a day: as_of on any tool that has it.
- One company: almanac_company. Which companies or countries satisfy a condition: almanac_screen.
- Yield curve: almanac_rates. What is released when: almanac_calendar. Where a number comes from: almanac_explain.

## How to read an answer

- The first line says from when it is: `as known on 2024-05-01`, or `latest, data version 41`.
- Rows are comma-separated: period,value,observed,status. `observed` is the day the value became known.
- status: initial (first publication), revised, final, unknown (the history is not kept that far); +forecast, +stale.
- `[1]` is a source in the footer: provider, source, licence, attribution, and ids of observations (ref obs_…).
- The last line says what was left out and which arguments give it.
- percent is in percent (4.25 is 4.25 %); ratios of companies are fractions (0.25 is 25 %); spreads of almanac_rates are \
in basis points. Levels come in their unit; an index means something only against itself.

## Rules

1. `withheld`: there is a value, and its licence does not allow it to be shown. Say that, with the reason. Do not estimate \
it, and do not take it from memory or from another value.
2. No value is no zero. Say that none is known.
3. Do not compute growth or spreads from levels where there is an indicator for them: almanac_find names it.
4. "As of" is about knowledge, not about periods: as_of=2024-05-01 gives the newest numbers that were out by then, of \
whatever period.
5. Name the period and the source of each number you give, with the attribution of the footer.
6. An error names the parameter, what is allowed, and often what was meant. Correct the call; do not give up the question.
"""
