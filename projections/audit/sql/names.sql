-- What the ids $2 of organization $1 are called today; of an erased member and of a removed mark, nothing.
-- Names of servers and databases outlive them beside the alerts. $3 are report kinds, $4 their names in lists,
-- $5 is what stands before the servers in the title of an alert about several.
SELECT id::text, name FROM members WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, name FROM tokens WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, name FROM alerts_v5.places WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, CASE WHEN other_instance_ids = '' THEN title ELSE split_part(title, $5, 1) END FROM alerts_v5.alerts WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, name FROM notification_channels WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT DISTINCT ON (id) id::text, name FROM (SELECT id, name, holds_from FROM maintenance_windows WHERE organization_id = $1 AND id = ANY ($2) ORDER BY id, holds_from DESC) w
UNION ALL
SELECT id::text, text FROM chart_marks WHERE organization_id = $1 AND id = ANY ($2) AND text <> ''
UNION ALL
SELECT id::text, name FROM notification_rules WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, check_id FROM exceptions_v1.exceptions WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, check_id FROM findings WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, name FROM schedules_v1.schedules WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id::text, COALESCE((SELECT short FROM unnest($3::text[], $4::text[]) AS k (kind, short) WHERE k.kind = r.kind), kind) || ', ' || scope_label
FROM report_history_v2.reports AS r WHERE organization_id = $1 AND id = ANY ($2)
