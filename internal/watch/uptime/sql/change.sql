-- In the order of the key, in which everybody locks. Who finds the open span otherwise than read changes nothing of that
-- server, and inserts nothing: another process did. $1-$7: the spans as read (was) and as they are; was is null for a
-- server without an open span.
WITH input AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::boolean[], $6::timestamptz[], $7::boolean[])
        AS i (organization_id, instance_id, since, was_until, up, until, open)
)
UPDATE uptime u SET until = i.until, open = i.open
FROM input i
WHERE u.organization_id = i.organization_id AND u.instance_id = i.instance_id AND u.since = i.since AND u.up = i.up
    AND u.open AND u.until = i.was_until
RETURNING u.instance_id
