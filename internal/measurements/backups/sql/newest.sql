-- The newest backups of servers: of organization $1, of the instances $3 where $2 is true, else of all.
SELECT instance_id, database_id, kind, source, started_at, finished_at, size_bytes, coalesce(tool, '') AS tool FROM backup_newest
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3))
ORDER BY instance_id, database_id, kind, finished_at DESC, source
