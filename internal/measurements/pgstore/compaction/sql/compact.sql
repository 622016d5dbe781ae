-- Notes that hours are compacted, now that their series are ours: those which still are as
-- they were found, and of which nothing came meanwhile, unless their series has waited for
-- blocks (claim_over_hours). Raw samples of hours that are younger than raw samples are
-- kept ($4) are packed; those of older ones, which came late, stay where they are until then.
UPDATE measured_hours h
SET compacted = true, packed = h.packed OR h.hour > now() - $4::interval
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE h.series_id = n.series_id AND h.hour = n.hour AND NOT h.compacted
  AND (h.arrived_at < now() - $3::interval OR EXISTS (SELECT FROM series_away a WHERE a.series_id = h.series_id))
  AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour)
RETURNING h.series_id, h.hour AS start, h.packed
