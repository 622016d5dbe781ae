SELECT t.key, t.tag ->> 'value' AS value, count(*) AS instances
FROM fleet_v3.instances, jsonb_each(tags) AS t (key, tag)
WHERE organization_id = $1{{scope}}
GROUP BY 1, 2
ORDER BY t.key COLLATE "C", (t.tag ->> 'value') COLLATE "C"
