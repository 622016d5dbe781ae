-- What every sign says under its organization's thresholds ($1 to $3), of those
-- that say something or did: is it a breach, is it none, or (null) does nobody
-- know? One pass over the table: 100,000 signs are read in some 30 ms, and an index
-- on value or at would be written to with every sample instead.
-- A volume is gone that its host ($5: for how long at least) does not tell any more. It has
-- to be missing twice: the message that brings it may still be on its way. A volume of a
-- server is gone as soon as its host told its own, which have taken its place. Who is on a
-- host stands in the host's row. The organizations in $8 leave waits for advisory locks ($7) out.
WITH judged AS (
    SELECT s.organization_id, s.rule, s.instance_id, s.mount, s.value, s.at, s.since, s.until, coalesce(h.details, '{}') || s.details AS details,
           of.threshold, gone.is AS gone,
           -- $4: how old a figure may be. A server is silent once the threshold has passed.
           CASE
               WHEN gone.is THEN false
               WHEN s.rule = 'lock_wait' AND s.mount = $7 AND s.organization_id = ANY ($8) THEN false
               WHEN s.at >= $4 THEN s.value > of.threshold OR s.rule = 'silent' AND s.value >= of.threshold
           END AS breach
    FROM signs s
    JOIN unnest($1::uuid[], $2::text[], $3::double precision[]) AS t (organization_id, rule, threshold) USING (organization_id, rule)
    CROSS JOIN LATERAL (
        -- Ten sessions that wait for one lock are no wait like others: $6 minutes are enough.
        SELECT CASE WHEN s.rule = 'lock_wait' AND (s.details->>'sessions')::int >= 10 THEN least(t.threshold, $6) ELSE t.threshold END AS threshold
    ) AS of
    LEFT JOIN signs h ON s.rule = 'host_volume' AND h.organization_id = s.organization_id AND h.rule = 'host'
        AND h.instance_id = s.instance_id AND h.mount = ''
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN s.since IS NULL THEN false
            WHEN s.rule = 'host_volume' THEN coalesce(s.at < h.since AND s.at <= h.at - make_interval(secs => $5), false)
            WHEN s.rule = 'volume' THEN EXISTS (
                SELECT FROM signs o
                WHERE o.organization_id = s.organization_id AND o.rule = 'host' AND o.at > s.at AND o.details->'instances' ? s.instance_id::text)
            ELSE false
        END AS is
    ) AS gone
    WHERE s.value IS NOT NULL OR s.since IS NOT NULL
)
SELECT organization_id, rule, instance_id, mount, coalesce(value, 0) AS value, at, since, until, details, threshold, gone, breach
FROM judged
WHERE breach OR since IS NOT NULL
ORDER BY organization_id, rule, instance_id, mount
