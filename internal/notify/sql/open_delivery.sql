-- The delivery of the rule and channel that is open, or a new one; none for an
-- organization that was deleted.
INSERT INTO deliveries AS d (id, organization_id, rule_id, channel_id, quiet, reason, created_at, due_at, status_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7)
ON CONFLICT (rule_id, channel_id, quiet) WHERE status = 'pending' AND closed_at IS NULL DO UPDATE SET due_at = d.due_at
RETURNING id, id = $1 AS made
