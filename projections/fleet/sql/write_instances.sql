INSERT INTO instances (id, organization_id, external_id, name, engine, version, host, active, created_at, tags)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                     $8::boolean[], $9::timestamptz[], $10::jsonb[])
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name,
    engine = excluded.engine,
    version = excluded.version,
    host = excluded.host,
    active = excluded.active,
    created_at = excluded.created_at,
    tags = excluded.tags
