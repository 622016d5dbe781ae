-- The channels of the kinds $3 that nobody has fed for $2 seconds.
UPDATE notification_channels SET fed_at = $1
WHERE kind = ANY ($3) AND removed_at IS NULL AND fed_at < $1::timestamptz - make_interval(secs => $2)
RETURNING id, organization_id, name, kind, to_json(member_ids)::text AS member_ids, administrators, sealed
