SELECT log, position, at, type, actor_id, subject, data
FROM audit_v1.entries
WHERE organization_id = $1
  AND at >= $2 AND at < $3
  AND (coalesce(cardinality($4::text[]), 0) = 0 OR actor_id = ANY ($4))
  AND (coalesce(cardinality($5::text[]), 0) = 0 OR type = ANY ($5))
  AND (at, log, position) < ($6, $7, $8)
ORDER BY at DESC, log DESC, position DESC
LIMIT $9
