-- Keeps rows of a width ($4). Which hosts they have is large and seldom changes: where it
-- has not ($7 is null), the old value stays where it is.
INSERT INTO whole_rows AS w (organization_id, kind, engine, width, start, slots, hosts)
SELECT $1, $2, $3, $4, start, slots, hosts
FROM unnest($5::timestamptz[], $6::bytea[], $7::bytea[]) AS n (start, slots, hosts)
ON CONFLICT (organization_id, kind, engine, width, start)
DO UPDATE SET slots = excluded.slots, hosts = coalesce(excluded.hosts, w.hosts)
