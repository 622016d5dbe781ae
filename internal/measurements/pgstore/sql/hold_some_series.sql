-- In the order of ids, in which everybody who waits for a series does.
SELECT id FROM measured_series WHERE organization_id = $1 ORDER BY id LIMIT $2 FOR UPDATE
