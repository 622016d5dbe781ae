-- In the order of the key: processes that write the same rows do so in one order.
INSERT INTO engine_drops AS kept (organization_id, tile, engine, drops, last_at, last_error)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[])
ORDER BY 1, 2, 3
ON CONFLICT (organization_id, tile, engine) DO UPDATE SET
    drops = kept.drops + excluded.drops,
    last_error = CASE WHEN excluded.last_at >= kept.last_at THEN excluded.last_error ELSE kept.last_error END,
    last_at = greatest(kept.last_at, excluded.last_at)
