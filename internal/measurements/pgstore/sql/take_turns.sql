-- Takes the turns of a sender ($2) to send statements of instances, of which it sends
-- until $4. By the database's clock, in the order of ids, in which everybody who waits
-- for a turn does. Those that another sender holds are missing in what it returns.
INSERT INTO statement_turns AS t (organization_id, instance_id, sender, held_until, counted_until)
SELECT $1::uuid, n.instance_id, $2::text, now() + interval '5 minutes', n.counted_until
FROM unnest($3::uuid[], $4::timestamptz[]) AS n (instance_id, counted_until)
ORDER BY n.instance_id
ON CONFLICT (organization_id, instance_id) DO UPDATE
SET sender        = excluded.sender,
    held_until    = excluded.held_until,
    counted_until = greatest(t.counted_until, excluded.counted_until),
    since         = CASE WHEN t.sender = excluded.sender THEN t.since ELSE t.counted_until END
WHERE t.sender = excluded.sender OR t.held_until <= now()
RETURNING instance_id, since
