SELECT id, kind, organization_id, member_id, name, prefix, to_json(scopes) AS scopes,
       to_json(instance_ids) AS instance_ids, created_at, expires_at,
       revoked_at, last_used_at, coalesce(last_used_ip, '') AS last_used_ip
FROM tokens
WHERE organization_id = $1 AND kind = $2 AND ($3::uuid IS NULL OR member_id = $3)
ORDER BY created_at DESC, id DESC
