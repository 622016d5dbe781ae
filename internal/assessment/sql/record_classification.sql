INSERT INTO assessment_classifications (organization_id, instance_id, database_name, status, facts)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (organization_id, instance_id, database_name) DO UPDATE
SET status = excluded.status, facts = excluded.facts, recorded_at = now()
