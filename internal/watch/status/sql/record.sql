-- In the order of the key, in which everybody locks. An observation that comes twice or late
-- changes nothing. A success after a gap begins anew: nobody saw what was in between. A
-- failure does not, for the server was down before and after; one of a part in one database does,
-- for a program that began anew does not say that it is over. An agent ($13 begins its source)
-- says itself when its failure began, for its successes are of other parts.
-- What fails that did not has fallen; the last 20 times are kept.
-- The interval is the longest gap of late, so that two messages of one scrape are not one;
-- a gap of more than three intervals, or of 15 minutes at first, is a silence and no interval.
-- A success may come with the time at which the server went down before it (down). Both are
-- kept in this one statement, so that nobody sees the server down in between.
-- $11: a gap, $12: how much newer the same outcome has to be; both in seconds.
INSERT INTO observations AS was (organization_id, instance_id, source, part, ok, since, tried_at, ok_at, code, sentence, fell)
SELECT organization_id, instance_id, source, part, ok, since, at, CASE WHEN ok THEN at END, code, sentence,
    CASE WHEN down IS NOT NULL THEN ARRAY[down] WHEN part = 'connection' AND NOT ok THEN ARRAY[since] ELSE '{}' END
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::timestamptz[], $7::timestamptz[], $8::text[], $9::text[],
        $10::timestamptz[])
    AS n (organization_id, instance_id, source, part, ok, since, at, code, sentence, down)
ON CONFLICT (organization_id, instance_id, source, part) DO UPDATE
SET ok = excluded.ok,
    since = CASE
        WHEN NOT excluded.ok AND starts_with(excluded.source, $13) THEN excluded.since
        WHEN was.ok = excluded.ok AND NOT (excluded.ok AND excluded.fell <> '{}')
            AND (NOT excluded.ok AND strpos(excluded.part, '/') = 0 OR excluded.tried_at - was.tried_at <= make_interval(secs => greatest($11, 3 * was.every)))
            THEN was.since
        ELSE greatest(excluded.since, was.since)
    END,
    every = CASE
        WHEN extract(epoch FROM excluded.tried_at - was.tried_at) <= CASE WHEN was.every IS NULL THEN 900 ELSE 3 * greatest(was.every, 60) END
            THEN greatest(extract(epoch FROM excluded.tried_at - was.tried_at), 0.9 * coalesce(was.every, 0))
        ELSE was.every
    END,
    tried_at = excluded.tried_at,
    ok_at = coalesce(excluded.ok_at, was.ok_at),
    code = excluded.code,
    sentence = excluded.sentence,
    fell = CASE
        WHEN excluded.part = 'connection' AND NOT excluded.ok AND (was.ok OR starts_with(excluded.source, $13) AND excluded.since > was.since)
            THEN (was.fell || excluded.since)[greatest(cardinality(was.fell) - 18, 1):]
        WHEN excluded.ok AND was.ok THEN (was.fell || excluded.fell)[greatest(cardinality(was.fell || excluded.fell) - 19, 1):]
        ELSE was.fell
    END
WHERE was.tried_at < excluded.tried_at
    AND (was.ok <> excluded.ok OR excluded.ok AND excluded.fell <> '{}' OR was.code <> excluded.code OR was.sentence <> excluded.sentence
        OR excluded.tried_at - was.tried_at >= make_interval(secs => $12))
