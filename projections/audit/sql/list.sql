SELECT log, position, at, type, actor_id, subject, data
FROM audit_v3.entries AS e
WHERE organization_id = $1 AND at >= $2 AND at < $3 AND (at, log, position) < ($4, $5, $6)
  AND NOT type = ANY ($8::text[])
  {{seen}}
ORDER BY at DESC, log DESC, position DESC
LIMIT $7
