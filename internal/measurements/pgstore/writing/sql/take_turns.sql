-- Takes the turns of a sender ($2, by the token $5) to send statements of instances, of which it sends
-- until $4. By the database's clock, in the order of ids, in which everybody who waits
-- for a turn does. Those that another sender holds are missing in what it returns. Nobody has
-- counted the future: where a sender's clock is ahead, whoever comes next begins by ours.
INSERT INTO statement_turns AS t (organization_id, instance_id, sender, token_id, held_until, counted_until)
SELECT $1::uuid, n.instance_id, $2::text, $5::uuid, now() + interval '5 minutes', least(n.counted_until, now())
FROM unnest($3::uuid[], $4::timestamptz[]) AS n (instance_id, counted_until)
ORDER BY n.instance_id
ON CONFLICT (organization_id, instance_id) DO UPDATE
SET sender        = excluded.sender,
    token_id      = excluded.token_id,
    held_until    = excluded.held_until,
    counted_until = greatest(t.counted_until, excluded.counted_until),
    since         = CASE WHEN t.sender = excluded.sender AND coalesce(t.token_id, excluded.token_id) = excluded.token_id THEN t.since ELSE t.counted_until END,
    taken_at      = CASE WHEN t.sender = excluded.sender AND coalesce(t.token_id, excluded.token_id) = excluded.token_id THEN t.taken_at ELSE now() END,
    resumed_at    = CASE WHEN t.sender = excluded.sender AND coalesce(t.token_id, excluded.token_id) = excluded.token_id THEN t.resumed_at END
WHERE t.sender = excluded.sender AND coalesce(t.token_id, excluded.token_id) = excluded.token_id OR t.held_until <= now()
RETURNING instance_id, since, since IS NOT NULL AND resumed_at IS NULL AS resumes
