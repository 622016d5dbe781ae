-- The hours in which a figure of the rules $2 was beyond $4 or below $5 since $3, and the hour after each: between these
-- a figure is not beyond its threshold, or there is none.
-- piled has the figures of the rule $6 about the same subject and hour.
SELECT hours.rule, hours.instance_id, hours.mount, hours.hour, extract(second FROM hours.at) AS phase, to_json(hours.minutes) AS minutes,
       coalesce(to_json(p.minutes), '[]') AS piled
FROM (
    SELECT *, lag(beyond, 1, false) OVER (PARTITION BY rule, instance_id, mount ORDER BY hour) AS after
    FROM (
        SELECT *, EXISTS (SELECT FROM unnest(minutes) AS v WHERE v >= $4 OR v < $5) AS beyond
        FROM sign_hours
        WHERE organization_id = $1 AND rule = ANY ($2) AND hour >= $3
    ) AS judged
) AS hours
LEFT JOIN sign_hours AS p ON hours.rule = 'lock_wait' AND p.organization_id = $1 AND p.rule = $6
    AND p.instance_id = hours.instance_id AND p.mount = hours.mount AND p.hour = hours.hour
WHERE beyond OR after
ORDER BY hours.rule, hours.instance_id, hours.mount, hours.hour
