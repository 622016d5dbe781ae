-- A sample that comes twice, or late, changes nothing; so neither does it wear out
-- the table. In the order of the key, in which everybody locks.
-- A row of the rule host keeps in since when the host told its volumes before.
-- What is counted over a while ($8: seconds) is the sum of the counts of that time, each once: the counts of one look may
-- come in several messages.
-- What the watch may judge from now on is the figure of its minute (sign_hours): of the rules in $9
-- the lowest of the minute, of others the highest, as far as a real can hold it.
WITH recorded AS (
    INSERT INTO signs (organization_id, rule, instance_id, mount, value, at, details)
    SELECT organization_id, rule, instance_id, mount, value, at, details::jsonb
    FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::double precision[], $6::timestamptz[], $7::text[])
        AS told (organization_id, rule, instance_id, mount, value, at, details)
    ON CONFLICT (organization_id, rule, instance_id, mount) DO UPDATE
    SET (value, details) = (
            SELECT CASE WHEN excluded.details ? 'counts' THEN coalesce(sum((c->>'n')::double precision), 0) ELSE excluded.value END,
                   CASE WHEN excluded.details ? 'counts' THEN jsonb_build_object('counts', coalesce(jsonb_agg(c), '[]')) ELSE excluded.details END
            FROM (
                SELECT DISTINCT ON ((c->>'at')::timestamptz, c->>'of') c
                FROM jsonb_array_elements(CASE WHEN excluded.details ? 'counts'
                    THEN coalesce(signs.details->'counts', '[]') || (excluded.details->'counts') ELSE '[]' END) AS c
                WHERE (c->>'at')::timestamptz > greatest(signs.at, excluded.at) - make_interval(secs => $8)
            ) AS counts
        ),
        at = greatest(signs.at, excluded.at), since = CASE WHEN signs.rule = 'host' THEN signs.at ELSE signs.since END
    WHERE signs.at < excluded.at
       OR excluded.details ? 'counts' AND NOT coalesce(signs.details->'counts', '[]') @> (excluded.details->'counts')
    RETURNING organization_id, rule, instance_id, mount, value, at
)
INSERT INTO sign_hours (organization_id, rule, instance_id, mount, hour, at, minutes)
SELECT organization_id, rule, instance_id, mount, date_trunc('hour', at, 'UTC'), at,
       array_fill(NULL::real, ARRAY[extract(minute FROM at)::integer]) || least(greatest(CASE WHEN abs(value) < 1e-30 THEN 0 ELSE value END, -1e30), 1e30)::real
FROM recorded
WHERE rule <> 'host'
ORDER BY organization_id, rule, instance_id, mount
ON CONFLICT (organization_id, rule, instance_id, mount, hour) DO UPDATE
SET at = greatest(sign_hours.at, excluded.at),
    minutes[cardinality(excluded.minutes)] = CASE WHEN excluded.rule = ANY ($9)
        THEN least(sign_hours.minutes[cardinality(excluded.minutes)], excluded.minutes[cardinality(excluded.minutes)])
        ELSE greatest(sign_hours.minutes[cardinality(excluded.minutes)], excluded.minutes[cardinality(excluded.minutes)]) END
