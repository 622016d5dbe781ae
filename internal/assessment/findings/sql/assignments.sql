SELECT finding_id, assignee_id, ticket_url
FROM finding_assignments
WHERE organization_id = $1 AND finding_id = ANY ($2::uuid[])
