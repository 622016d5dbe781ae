-- Sorted, so that two processes that claim at once do not wait for each other in turn.
INSERT INTO monitor_leases AS l (organization_id, instance_id, token, leased_until)
SELECT c.organization_id, c.instance_id, c.token, now() + make_interval(secs => $4)
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS c (organization_id, instance_id, token)
ORDER BY c.instance_id
ON CONFLICT (instance_id) DO UPDATE
SET organization_id = excluded.organization_id, token = excluded.token, leased_until = excluded.leased_until
WHERE l.leased_until IS NULL OR l.leased_until <= now()
RETURNING l.organization_id, l.instance_id, l.token
