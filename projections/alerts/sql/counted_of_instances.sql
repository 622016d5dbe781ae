(SELECT coalesce(sum(t.alerts), 0)::bigint
 FROM (SELECT DISTINCT unnest({{instances}}::uuid[]) AS id) instance
 CROSS JOIN LATERAL (
    -- OFFSET 0 keeps it a look at each instance in the index: a scan of all of them takes twice as long.
    SELECT t.alerts FROM alerts_v5.totals_of_instances t
    WHERE t.organization_id = {{organization}} AND t.instance_id = instance.id{{window of t}}{{counted}} OFFSET 0
 ) t)
