-- Every relation of public with the table that it is part of (of parts the whole), as what, and how large it is.
WITH tables AS (SELECT oid, coalesce((SELECT p.relname FROM pg_class p WHERE p.oid = pg_partition_root(c.oid)), relname) AS relname, reltoastrelid FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'm', 'S')),
parts AS (
    SELECT oid, relname AS "table", 'rows' AS part FROM tables
    UNION ALL SELECT reltoastrelid, relname, 'toast' FROM tables WHERE reltoastrelid <> 0
    UNION ALL SELECT indexrelid, relname, 'indexes' FROM tables JOIN pg_index ON indrelid = tables.oid
    UNION ALL SELECT indexrelid, relname, 'toast' FROM tables JOIN pg_index ON indrelid = reltoastrelid
)
SELECT (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || pg_relation_filenode(oid) AS file,
    "table", part, pg_relation_size(oid) + pg_relation_size(oid, 'fsm') + pg_relation_size(oid, 'vm') AS bytes
FROM parts WHERE pg_relation_filenode(oid) IS NOT NULL
