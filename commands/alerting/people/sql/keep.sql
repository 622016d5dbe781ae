-- Of an organization that keeps people, which stays so until the transaction ends.
INSERT INTO alert_people (organization_id, alert_id, kept_at, salt, people)
SELECT $1, $2, $3, $4, $5 FROM (SELECT FROM organizations WHERE id = $1 AND session_detail = 'on' FOR SHARE) AS keeps
ON CONFLICT DO NOTHING
