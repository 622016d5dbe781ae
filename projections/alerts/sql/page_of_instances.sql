SELECT own.*
FROM (SELECT DISTINCT unnest({{instances}}::uuid[]) AS id) instance
CROSS JOIN LATERAL ({{branch}}) own
