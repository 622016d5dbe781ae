-- Recipients of the notifications about the alert $2. Through a channel of a kind in $3 only members of the owning
-- teams are notified, although a delivery has the events of several teams: while it is pending, the members of the
-- event's owners, and then those whose mail had the events of one of these owners. Through any other channel, that
-- holds for members with the role team. An event that was in none of the mails of its delivery is suppressed, with the
-- reason $4.
SELECT e.delivery_id, e.type, e.at, d.rule_id, r.name AS rule_name, d.channel_id, c.name AS channel_name, c.kind,
       CASE WHEN e.dropped <> '' OR unmailed.so THEN 'suppressed' ELSE d.status END AS status,
       coalesce(nullif(e.dropped, ''), CASE WHEN unmailed.so THEN $4 END, d.reason) AS reason, d.status_at, d.last_code,
       CASE WHEN d.status = 'pending' AND e.dropped = '' AND c.kind = ANY ($3) THEN coalesce((
                SELECT json_agg(DISTINCT m.id)::text
                FROM teams t
                CROSS JOIN LATERAL jsonb_array_elements(t.terms->'members') AS of_team
                JOIN members m ON m.organization_id = t.organization_id AND m.id = (of_team->>'memberId')::uuid AND m.status = 'active'
                WHERE t.organization_id = e.organization_id AND t.removed_at IS NULL AND t.id = ANY (owners.ids)
            ), '[]')
            WHEN d.status = 'pending' AND e.dropped = '' THEN to_json(ARRAY(SELECT member FROM unnest(c.member_ids) member
                WHERE NOT EXISTS (SELECT FROM members m WHERE m.organization_id = d.organization_id AND m.id = member AND m.role = 'team')
                OR EXISTS (SELECT FROM teams t WHERE t.organization_id = d.organization_id AND t.removed_at IS NULL AND t.id = ANY (owners.ids)
                    AND t.terms->'members' @> jsonb_build_array(jsonb_build_object('memberId', member)))) || CASE WHEN c.administrators
                THEN ARRAY(SELECT id FROM members m WHERE m.organization_id = d.organization_id AND m.role = 'admin' AND m.status = 'active') ELSE '{}' END)::text
            ELSE coalesce((SELECT json_agg(member_id)::text FROM delivery_mails m
                WHERE m.delivery_id = d.id AND NOT m.outside AND e.dropped = '' AND (c.kind <> ALL ($3) AND m.teams IS NULL OR m.teams && owners.ids)), '[]') END AS recipients
FROM delivery_events e
JOIN deliveries d ON d.id = e.delivery_id
JOIN notification_rules r ON r.id = d.rule_id
JOIN notification_channels c ON c.id = d.channel_id
CROSS JOIN LATERAL (SELECT ARRAY(
    SELECT (e.notice->'owner'->>'id')::uuid
    UNION
    SELECT (o->'owner'->>'id')::uuid FROM jsonb_array_elements(e.notice->'otherInstances') o
) AS ids) owners
CROSS JOIN LATERAL (SELECT d.status = 'sent' AND EXISTS (SELECT FROM delivery_mails m WHERE m.delivery_id = d.id)
    AND NOT EXISTS (SELECT FROM delivery_mails m WHERE m.delivery_id = d.id AND (m.teams IS NULL OR m.teams && owners.ids)) AS so) unmailed
WHERE e.organization_id = $1 AND e.alert_id = $2
ORDER BY d.created_at DESC, e.at DESC, e.delivery_id DESC
LIMIT 200
