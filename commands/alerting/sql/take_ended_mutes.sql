-- Judged again under the locks of the keys: another sweep, or a person, may have come first.
DELETE FROM alert_mutes
WHERE organization_id = $1 AND alert_id = ANY($2::uuid[]) AND until <= clock_timestamp()
RETURNING alert_id
