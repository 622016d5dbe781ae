-- As keep.sql. Whoever is there already is not added again; $6 people are kept at most.
INSERT INTO alert_people (organization_id, alert_id, kept_at, salt, people, later)
SELECT $1, $2, $3, $4, '[]', $5::jsonb FROM (SELECT FROM organizations WHERE id = $1 AND session_detail = 'on' FOR SHARE) AS keeps
ON CONFLICT (organization_id, alert_id) DO UPDATE SET later = alert_people.later || $5::jsonb
WHERE NOT alert_people.people @> $5::jsonb AND NOT alert_people.later @> $5::jsonb AND jsonb_array_length(alert_people.later) < $6
