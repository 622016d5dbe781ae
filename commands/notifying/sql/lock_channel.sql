-- Locked against who removes it and who names it in a rule (FOR SHARE).
SELECT id, organization_id, name, kind, to_json(member_ids)::text AS member_ids, administrators, sealed
FROM notification_channels WHERE organization_id = $1 AND id = $2 AND removed_at IS NULL FOR UPDATE
