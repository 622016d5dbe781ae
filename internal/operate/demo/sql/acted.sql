-- Whether an event of type $3 has ever happened to alert $2 of organization $1.
SELECT EXISTS (
    SELECT FROM events
    WHERE log = 'fleet' AND organization_id = $1 AND stream_id = $2 AND type = $3)
