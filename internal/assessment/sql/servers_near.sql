-- The instances of $2 with the servers that answer for them, and all others of the
-- organization that have a server or a cluster in common with one of them.
SELECT instance_id, engine, system_id, process_id, role, pooling, separate, seen_at, moved_at, told_by FROM server_identities
WHERE organization_id = $1 AND instance_id = ANY ($2)
UNION
SELECT o.instance_id, o.engine, o.system_id, o.process_id, o.role, o.pooling, o.separate, o.seen_at, o.moved_at, o.told_by
FROM server_identities i JOIN server_identities o ON o.organization_id = i.organization_id AND o.instance_id <> i.instance_id
    AND (o.system_id = i.system_id AND i.system_id <> '' OR o.process_id = i.process_id AND i.process_id <> '')
WHERE i.organization_id = $1 AND i.instance_id = ANY ($2)
