-- The hours in which a figure of the rules $2 was beyond $4 or below $5 since $3, and the hour after each: between these
-- a figure is not beyond its threshold, or there is none.
SELECT rule, instance_id, mount, hour, extract(second FROM at) AS phase, to_json(minutes) AS minutes
FROM (
    SELECT *, lag(beyond, 1, false) OVER (PARTITION BY rule, instance_id, mount ORDER BY hour) AS after
    FROM (
        SELECT *, EXISTS (SELECT FROM unnest(minutes) AS v WHERE v >= $4 OR v < $5) AS beyond
        FROM sign_hours
        WHERE organization_id = $1 AND rule = ANY ($2) AND hour >= $3
    ) AS judged
) AS hours
WHERE beyond OR after
ORDER BY rule, instance_id, mount, hour
