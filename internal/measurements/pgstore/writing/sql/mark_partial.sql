-- Notes of which times series have samples that are of a part only. They are ours.
UPDATE measured_series s
SET partial_from = least(s.partial_from, n.first), partial_to = greatest(s.partial_to, n.last)
FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS n (id, first, last)
WHERE s.id = n.id
  AND (s.partial_from IS NULL OR s.partial_from > n.first OR s.partial_to < n.last)
