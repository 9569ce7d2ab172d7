import json, collections
def test_probe(service, sandbox):
    rows = service.walk("/observations", sources="all", limit=500)
    print(collections.Counter((r["sourceId"], r["indicatorId"], r["frequency"], r["revisionStatus"]) for r in rows))
    rows = service.walk("/derived-observations", sources="all", limit=500)
    print(collections.Counter((r["sourceId"], r["indicatorId"], r["entityId"],r["frequency"], r["rights"]["valueWithheld"]) for r in rows))
    print(service.ok("/coverage"))
    print(json.dumps(sandbox.ok("/rates/USA"))[:1500])
    print(service.get("/indicators/gov_yield_10y/series").text)
