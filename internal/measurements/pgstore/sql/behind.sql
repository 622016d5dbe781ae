-- How long ago, in seconds, the oldest sample arrived that is not in every series yet: not
-- rolled up, or not in the rows that the whole organization is read from.
SELECT coalesce(extract(epoch FROM greatest(clock_timestamp() - min(since), interval '0')), 0)::double precision
FROM (
    SELECT min(since) AS since FROM dirty_hours
    UNION ALL
    SELECT min(m.since)
    FROM whole_marks m
    JOIN wholes w ON w.organization_id = m.organization_id AND w.kind = m.kind AND w.engine = m.engine
    WHERE w.begun
) AS waiting
