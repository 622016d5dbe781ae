-- An assignee who stays is not written: their erasure may have taken the finding from them since it was read.
INSERT INTO finding_assignments (finding_id, organization_id, instance_id, assignee_id, ticket_url)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (finding_id) DO UPDATE
SET assignee_id = CASE WHEN $6 THEN excluded.assignee_id ELSE finding_assignments.assignee_id END, ticket_url = excluded.ticket_url
