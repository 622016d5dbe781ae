{{covered}}
SELECT {{key}} AS key, min(f.severity) AS rank, count(*) AS findings, count(DISTINCT f.instance_id) AS instances,
       count(DISTINCT f.check_id) AS checks, count(DISTINCT (f.instance_id, f.database_name)) FILTER (WHERE f.database_name <> '') AS databases,
       bool_and(f.object LIKE 'CVE-%') AS cves, min(f.first_seen_at) AS first_seen_at, max(f.last_seen_at) AS last_seen_at,
       count(*) OVER () AS groups
{{matching}}
GROUP BY 1
ORDER BY 2, 3 DESC, 1 LIMIT {{size}} OFFSET {{offset}}
