-- The newest backups of server $2 in organization $1, from source $3. The ages that servers tell come with
-- seconds: an end that is only a little later is the same one.
INSERT INTO backup_newest (organization_id, instance_id, source, database_id, kind, started_at, finished_at, size_bytes, tool)
SELECT $1, $2, $3, b.database_id, b.kind, b.started_at, b.finished_at, b.size_bytes, b.tool
FROM unnest($4::uuid[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::bigint[], $9::text[])
    AS b (database_id, kind, started_at, finished_at, size_bytes, tool)
ON CONFLICT (organization_id, instance_id, database_id, kind, source) DO UPDATE SET
    started_at = excluded.started_at, finished_at = excluded.finished_at, size_bytes = excluded.size_bytes, tool = excluded.tool
WHERE excluded.finished_at > backup_newest.finished_at + interval '5 seconds'
