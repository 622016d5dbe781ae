-- Notes statements, in the order of series and hash, in which all lock these rows who
-- wait for them.
INSERT INTO measured_statements AS s (series_id, hash, first_seen, last_seen, id, database_id, key, text, text_digest, ran_before, own)
SELECT series_id, hash, first_seen, last_seen, id, database_id, key, nullif(text, ''), nullif(text_digest, 0), ran_before, own
FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::bigint[], $6::uuid[], $7::uuid[], $8::text[], $9::text[], $10::boolean[], $11::boolean[])
    AS n (series_id, hash, first_seen, last_seen, text_digest, id, database_id, key, text, ran_before, own)
ON CONFLICT (series_id, hash) DO UPDATE
SET first_seen = least(s.first_seen, excluded.first_seen), last_seen = greatest(s.last_seen, excluded.last_seen),
    text = coalesce(excluded.text, s.text), text_digest = coalesce(excluded.text_digest, s.text_digest),
    ran_before = CASE WHEN excluded.first_seen < s.first_seen THEN excluded.ran_before ELSE s.ran_before END, own = s.own OR excluded.own
