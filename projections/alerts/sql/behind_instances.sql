SELECT instance_id, count(*) AS alerts, count(*) OVER () AS instances, (sum(count(*)) OVER ())::bigint AS all_of_them
FROM (
{{behind}}
) b
GROUP BY instance_id
ORDER BY alerts DESC, instance_id
LIMIT $5
