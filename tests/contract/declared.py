"""Every declared endpoint, a good request for each, and the keys its records must have, as the documents list them."""

from almanac.api.interface import endpoints
from almanac.pipeline.explain.macro import Explainer
from tests.support.service import CATALOG

ENDPOINTS = {endpoint.path: endpoint for endpoint in endpoints(Explainer(CATALOG))}
LISTS = [path for path, endpoint in ENDPOINTS.items() if endpoint.kind == "list"]
ITEMS = [path for path, endpoint in ENDPOINTS.items() if endpoint.kind == "item"]

#: Values for what stands in braces. An observation's id is looked up.
PATH_VALUES = {
    "/indicators/{idOrSlug}": "gov_yield_10y",
    "/indicators/{idOrSlug}/series": "gov_yield_10y",
    "/derived-indicators/{idOrSlug}": "yield_slope_2s10s",
    "/derived-indicators/{idOrSlug}/entities": "yield_slope_2s10s",
    "/countries/{idOrIso}": "USA",
    "/rates/{scope}": "USA",
    "/rates/{scope}/history": "USA",
    "/briefs/{country}": "USA",
    "/entities/{idOrSlug}/aliases": "acme-widgets-inc",
    "/companies/{idOrLookup}/profile": "ACW",
    "/companies/{idOrLookup}/financials": "ACW",
}
REQUIRED = {
    "/observations/changes": {"since": "0"},
    "/screener": {"filter": "gov_yield_10y:gt:0"},
    "/equity-screener": {"filter": "sector:in:technology|financials"},
    "/entities/resolve": {"alias": "Acme Widgets"},
}
#: Lists without a row in the invented world.
WITHOUT_ROWS: set[str] = set()
#: Lists that have one row unless more are asked for.
ONE_ROW = {"/rates/{scope}/history"}

_OBSERVATION = (
    "id entityId indicatorId sourceId providerId valueNumeric valueText unit frequency periodStart periodEnd observedAt "
    "releasedAt ingestedAt revisionStatus sourceUrl attribution freshnessStatus metadata rights"
)
_INDICATOR = (
    "id slug name description category kind unit currency unitLabel frequencies seasonalAdjustment formula inputs "
    "preferredProviders aliases screenable seriesCount entityCount firstPeriod lastPeriod"
)
_COUNTRY = "id slug name isoAlpha2 isoAlpha3 kind region incomeGroup currency aliases indicatorCount ratesScope freshnessStatus"
_COMPANY = (
    "entityId name ticker cik exchange country sector industry fiscalYearEnd lastPeriodEnd score scores piotroskiF altmanZ2 "
    "scoreCoverage scoreModel"
)
KEYS = {
    path: set(names.split())
    for path, names in {
        "/observations": _OBSERVATION,
        "/observations/latest": f"{_OBSERVATION} derivedFrom",
        "/observations/vintages": f"{_OBSERVATION} derivedFrom",
        "/observations/changes": f"{_OBSERVATION} derivedFrom",
        "/observations/{id}/provenance": "observation vintages formula inputs payload run verified",
        "/derived-observations": f"{_OBSERVATION} derivedFrom",
        "/indicators": _INDICATOR,
        "/indicators/{idOrSlug}": _INDICATOR,
        "/derived-indicators": _INDICATOR,
        "/derived-indicators/{idOrSlug}": _INDICATOR,
        "/derived-indicators/{idOrSlug}/entities": "entityId name",
        "/indicators/{idOrSlug}/series": "id indicatorId entityId sourceId providerId nativeId name frequency unit currency "
        "preferred firstPeriod lastPeriod observationCount vintageCount vintagesFrom lastObservedAt freshnessStatus rights",
        "/providers": "id name kind country homepage sourceIds attribution",
        "/sources": "id providerId name description homepage license attribution rights frequencies storesVintages "
        "seriesCount firstPeriod lastPeriod lastIngestedAt lastSuccessAt health freshnessStatus",
        "/countries": _COUNTRY,
        "/countries/{idOrIso}": _COUNTRY,
        "/rates/{scope}": "scope name currency asOf curve spreads slopes peerSlopes comparability",
        "/rates/{scope}/history": "scope name currency asOf curve spreads slopes peerSlopes comparability periodEnd",
        "/briefs/{country}": "entityId name country asOf headline sections upcomingEvents recentReleases derivedFrom",
        "/screener": "entityId name country matches",
        "/screener/filters": "fields operators syntax example",
        "/equity-screener": "entityId name ticker cik country sector industry periodEnd observedAt values quality",
        "/equity-screener/filters": "fields operators syntax example",
        "/entities/{idOrSlug}/aliases": "entityId alias scheme primary validFrom validTo sourceId",
        "/entities/resolve": "entityId type name slug matchedAlias scheme match confidence candidates",
        "/companies": _COMPANY,
        "/companies/{idOrLookup}/profile": f"{_COMPANY} legalName tickers sic sicDescription lei stateOfIncorporation website "
        "formerNames predecessorOf successorOf latestFilings keyFigures scoreDetail scorePeers peers",
        "/companies/{idOrLookup}/financials": "entityId ticker cik currency asOf predecessorOf successorOf "
        "incomeStatements balanceSheets cashFlowStatements",
        "/events": "id category type title status occurredAt timePrecision timeZone entityId country indicatorId period actual "
        "revisedActual previous revisedPrevious unit currency form accession url sourceId providerId observedAt rights",
        "/release-summaries": "id release name country entityId period periodEnd releasedAt observedAt sourceId providerId "
        "headline readings",
        "/coverage": "countries regions companies indicators series observations derivedObservations vintages statements "
        "events providers sources firstPeriod lastPeriod lastIngestedAt dataVersion",
    }.items()
}
RIGHTS = {"exposure", "redistributable", "valueWithheld", "reason", "license", "licenseClass", "attribution"}
