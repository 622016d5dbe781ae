-- What is kept of every instance, one after the other, for whoever judges them all: what was observed, and, of
-- those that any source observed, the assessments that fail. Those that the settings forbid ($1) are no trouble.
SELECT organization_id, instance_id, source, part, ok, since, tried_at, ok_at, every, code, sentence, to_jsonb(fell) AS fell
FROM observations
UNION ALL
SELECT organization_id, instance_id, 'muster', 'assessment', false, coalesce(failing_since, last_error_at), last_error_at, NULL, NULL,
       last_error_class, last_error, '[]'
FROM assessment_targets t
WHERE last_error_at IS NOT NULL AND last_error_class <> $1
  AND EXISTS (SELECT FROM observations o WHERE o.organization_id = t.organization_id AND o.instance_id = t.instance_id)
ORDER BY organization_id, instance_id, source, part
