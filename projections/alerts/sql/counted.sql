(SELECT coalesce(sum(t.alerts), 0)::bigint
 FROM alerts_v5.totals t
 WHERE t.organization_id = {{organization}}{{window of t}}{{counted}})
