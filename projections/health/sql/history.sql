-- The scores of instances, a row each: the days from the first, and the score of each of them.
SELECT instance_id, array_to_string(array_agg(day - $3::date), ',') AS days, array_to_string(array_agg(score), ',') AS scores
FROM health_v1.scores
WHERE organization_id = $1 AND instance_id = ANY ($2) AND day >= $3::date AND day < $3::date + $4::int AND score IS NOT NULL
GROUP BY instance_id
