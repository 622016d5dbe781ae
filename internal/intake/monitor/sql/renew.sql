WITH held AS (
    SELECT l.instance_id
    FROM monitor_leases l
    JOIN unnest($1::uuid[], $2::uuid[]) AS c (instance_id, token) USING (instance_id, token)
    ORDER BY l.instance_id
    FOR UPDATE OF l
)
UPDATE monitor_leases l
SET leased_until = now() + make_interval(secs => $3)
FROM held
WHERE l.instance_id = held.instance_id
RETURNING l.instance_id
