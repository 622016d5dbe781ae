-- What was written ahead between two positions, by the relation of each record's first
-- block and by kind of record. Relation and file numbers are of one database.
SELECT coalesce(substring(block_ref FROM 'rel [0-9]+/([0-9]+/[0-9]+) '), '') AS file,
    resource_manager || ' ' || split_part(record_type, '+', 1) AS kind, count(*) AS records,
    sum(record_length)::bigint AS bytes, sum(fpi_length)::bigint AS pages
FROM pg_get_wal_records_info($1, $2) GROUP BY 1, 2
