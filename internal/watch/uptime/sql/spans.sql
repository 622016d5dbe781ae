SELECT instance_id, since, until, up, open FROM uptime
WHERE organization_id = $1 AND instance_id = ANY ($2) AND until > $3 AND since < $4
ORDER BY instance_id, since
