-- What every sign says under its organization's thresholds ($1 to $3), of those
-- that say something or did: is it a breach, is it none, or (null) does nobody
-- know? One pass over the table: 100,000 signs are read in some 30 ms, and an index
-- on value or at would be written to with every sample instead.
WITH judged AS (
    SELECT s.organization_id, s.rule, s.instance_id, s.mount, s.value, s.at, s.since, s.until, t.threshold,
           CASE
               WHEN s.rule <> 'silent' THEN CASE
                   WHEN s.at >= $5 THEN s.value > t.threshold -- $5: how old a figure may be
               END
               WHEN s.at > t.heard THEN false
               -- $6: since when there was somebody to hear it; null: there is nobody
               WHEN greatest(s.at, $6::timestamptz) <= t.heard AND $6 IS NOT NULL THEN true
           END AS breach
    FROM signs s
    JOIN (
        SELECT organization_id, rule, threshold, $4::timestamptz - make_interval(secs => 60 * threshold) AS heard -- $4: now
        FROM unnest($1::uuid[], $2::text[], $3::double precision[]) AS of (organization_id, rule, threshold)
    ) AS t USING (organization_id, rule)
    WHERE s.value IS NOT NULL OR s.since IS NOT NULL
)
SELECT organization_id, rule, instance_id, mount, coalesce(value, 0) AS value, at, since, until, threshold, breach
FROM judged
WHERE breach OR since IS NOT NULL
ORDER BY organization_id, rule, instance_id, mount
