-- The figures of some subjects by the hour, for a chart: the highest, of a rule that is raised below its threshold ($5) the lowest.
SELECT instance_id, hour, CASE WHEN $5 THEN min(v) ELSE max(v) END AS value
FROM sign_hours, unnest(minutes) AS v
WHERE organization_id = $1 AND rule = ANY ($2) AND hour >= $3 AND instance_id = ANY ($4) AND v IS NOT NULL
GROUP BY instance_id, hour
ORDER BY instance_id, hour
