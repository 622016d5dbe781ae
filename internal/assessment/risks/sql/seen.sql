-- A table that had gone begins a new series, and keeps when it was first there.
INSERT INTO data_risks (organization_id, id, instance_id, database_name, schema_name, table_name, first_seen_at, last_seen_at)
SELECT $1, t.id, $2, $3, t.schema_name, t.table_name, $4, $4
FROM unnest($5::text[], $6::text[], $7::text[]) AS t (id, schema_name, table_name)
ON CONFLICT (organization_id, id) DO UPDATE SET
    last_seen_at       = excluded.last_seen_at,
    first_seen_at      = CASE WHEN data_risks.gone_at IS NULL THEN data_risks.first_seen_at ELSE excluded.first_seen_at END,
    ever_first_seen_at = CASE WHEN data_risks.gone_at IS NULL THEN data_risks.ever_first_seen_at
                              ELSE coalesce(data_risks.ever_first_seen_at, data_risks.first_seen_at) END,
    earlier_gone_at    = coalesce(data_risks.gone_at, data_risks.earlier_gone_at),
    gone_at            = NULL
