-- A span that is there already begins anew: what was read of it was too old, or it had been closed too early.
-- Another process may have opened one meanwhile: then this one is left out.
INSERT INTO uptime AS was (organization_id, instance_id, since, until, up, open)
SELECT i.organization_id, i.instance_id, i.since, i.until, i.up,
    i.open AND NOT EXISTS (SELECT FROM uptime o WHERE o.instance_id = i.instance_id AND o.open)
FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::boolean[], $6::boolean[])
    AS i (organization_id, instance_id, since, until, up, open)
ON CONFLICT (organization_id, instance_id, since, up) DO UPDATE SET until = greatest(was.until, excluded.until), open = excluded.open
