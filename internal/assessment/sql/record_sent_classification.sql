-- Of several runs over a database the latest counts, whatever the order of arrival.
INSERT INTO assessment_classifications (organization_id, instance_id, database_name, status, facts, recorded_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (organization_id, instance_id, database_name) DO UPDATE
SET status = excluded.status, facts = excluded.facts, recorded_at = excluded.recorded_at
WHERE excluded.recorded_at >= assessment_classifications.recorded_at
