"""Several small invented companies, alike but for their number, as rows of a mirror."""

import functools

from almanac.domain.companies import company_id
from tests.support.filed_company import CIK, DATASET_URL, FACTS_URL, INDEX_URL, facts, index, quarterly_dataset
from tests.support.treasury_home import Row

NUMBERS = range(9_900_011, 9_900_019)
ENTITIES = [company_id(number) for number in NUMBERS]


def _of(number: int, text: str) -> str:
    """The same, said of another company: its number in addresses, accessions and as it is."""
    return text.replace(f"{CIK:010d}", f"{number:010d}").replace(str(CIK), str(number))


@functools.cache  # an archive bears the time of its making
def rows() -> list[Row]:
    """Per company facts as they were early, its index, and its facts; at last a data set and what nobody can read."""
    found: list[Row] = []
    for number in NUMBERS:
        found += [
            (_of(number, FACTS_URL), "2024-03-01T00:00:00Z", _of(number, facts(5).decode()).encode(), 200),
            (_of(number, INDEX_URL), "2024-06-01T00:00:01Z", _of(number, index().decode()).encode(), 200),
            (_of(number, FACTS_URL), "2024-06-01T00:00:02Z", _of(number, facts().decode()).encode(), 200),
        ]
    found.append((_of(9_900_099, FACTS_URL), "2024-06-01T00:00:03Z", b'{"cik": 9900099, "facts": 1}', 200))
    found.append((DATASET_URL, "2023-04-15T00:00:00Z", quarterly_dataset(), 200))
    return found
