-- The hosts of an organization; with a filter those whose newest sample names one of
-- the instances, or names none and which are called like the host of one. Series from before
-- hosts had keys are called as their senders spelled them. Most hosts have
-- one instance, which is looked up in a hash: to hold 10,000 against each of 200 (&&) took
-- 17 ms, and this takes 3.
SELECT id AS series_id, organization_id, kind, subject, engine, cardinality(instances) AS instances, coalesce((SELECT ready FROM head_state), false) AS ready
FROM measured_series
WHERE organization_id = $1 AND kind = 'host' AND ($2::boolean OR CASE cardinality(instances)
    WHEN 0 THEN subject IN (SELECT unnest($4::text[])) OR rtrim(lower(subject), '.') IN (SELECT unnest($4))
    WHEN 1 THEN instances[1] IN (SELECT unnest($3::uuid[]))
    ELSE instances && $3
END)
ORDER BY id
