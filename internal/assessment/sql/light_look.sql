-- What differs makes the server due, and is kept as seen then; within the gap it stays as
-- it was, so that a later look finds that it differs. The first look has nothing to differ from.
UPDATE assessment_targets
SET light_look         = $3,
    light_look_told_at = CASE WHEN light_look <> '' AND light_look <> $3 THEN now() ELSE light_look_told_at END,
    next_assessment_at = CASE WHEN light_look <> '' AND light_look <> $3 THEN least(next_assessment_at, now()) ELSE next_assessment_at END
WHERE organization_id = $1 AND instance_id = $2
  AND (light_look = '' OR light_look = $3 OR light_look_told_at IS NULL OR light_look_told_at <= now() - make_interval(secs => $4))
RETURNING next_assessment_at <= now()
