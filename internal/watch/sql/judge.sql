-- The figures that may be beyond a threshold of their organization ($1 to $4: of each rule, what a
-- figure has to be above, or below), and those that were: whether they are in breach is decided
-- by the setting of their server (judged.decide). One pass over the table: 100,000 signs are read
-- in some 30 ms, and an index on value or at would be written to with every sample instead.
-- A volume is gone that its host ($5: for how long at least) does not tell any more. It has
-- to be missing twice: the message that brings it may still be on its way. A volume of a
-- server is gone as soon as its host told its own, which have taken its place. Who is on a
-- host stands in the host's row.
SELECT s.organization_id, s.rule, s.instance_id, s.mount, coalesce(s.value, 0) AS value, s.at, s.since, s.until, s.pending,
       coalesce(h.details, '{}') || s.details AS details, gone.is AS gone
FROM signs s
JOIN unnest($1::uuid[], $2::text[], $3::double precision[], $4::double precision[]) AS of (organization_id, rule, above, below)
    USING (organization_id, rule)
LEFT JOIN signs h ON s.rule IN ('host_volume', 'days_until_full') AND h.organization_id = s.organization_id AND h.rule = 'host'
    AND h.instance_id = s.instance_id AND h.mount = ''
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN s.since IS NULL THEN false
        WHEN s.rule IN ('host_volume', 'days_until_full') THEN coalesce(s.at < h.since AND s.at <= h.at - make_interval(secs => $5), false)
        WHEN s.rule = 'volume' THEN EXISTS (
            SELECT FROM signs o
            WHERE o.organization_id = s.organization_id AND o.rule = 'host' AND o.at > s.at AND o.details->'instances' ? s.instance_id::text)
        ELSE false
    END AS is
) AS gone
WHERE s.since IS NOT NULL OR s.pending IS NOT NULL OR s.value >= of.above OR s.value < of.below
ORDER BY s.organization_id, s.rule, s.instance_id, s.mount
