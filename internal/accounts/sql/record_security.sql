-- One entry. What nobody could be identified for is the organization's where
-- there is one only. $9: what is noted once, or null.
INSERT INTO security_log (at, organization_id, member_id, type, ip, request_id, detail, component, once)
VALUES ($1, coalesce($2::uuid, (SELECT min(id::text)::uuid FROM organizations HAVING count(*) = 1)), $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (once) DO NOTHING
