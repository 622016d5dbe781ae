-- What runs on a host is what its newest sample says that says something.
UPDATE measured_series s
SET instances = n.instances::uuid[], mapped_at = n.at
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS n (id, instances, at)
WHERE s.id = n.id AND (s.mapped_at IS NULL OR s.mapped_at < n.at)
