INSERT INTO entries (log, position, organization_id, at, type, actor_id, subject, data)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::uuid[],
                     $8::bytea[])
