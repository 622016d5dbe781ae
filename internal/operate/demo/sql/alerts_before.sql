-- Whether alerts of organization $1 had been recorded by $2.
SELECT EXISTS (SELECT FROM events WHERE log = 'fleet' AND organization_id = $1 AND type = 'alert.raised' AND recorded_at < $2)
