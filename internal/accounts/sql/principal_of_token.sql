-- Of an erased member the address is null.
SELECT t.id AS token_id, t.kind, to_json(t.scopes) AS scopes, to_json(t.instance_ids) AS instance_ids, t.expires_at, t.revoked_at, t.last_used_at,
       m.id AS "member.id", m.organization_id AS "member.organization_id", coalesce(m.email, '') AS "member.email",
       m.name AS "member.name", m.role AS "member.role", m.status AS "member.status",
       m.last_sign_in_at AS "member.last_sign_in_at", m.created_at AS "member.created_at",
       o.id AS "organization.id", o.name AS "organization.name", o.time_zone AS "organization.time_zone",
       o.report_retention_days AS "organization.report_retention_days",
       o.inputs_retention_days AS "organization.inputs_retention_days",
       o.paper_size AS "organization.paper_size", o.statement_texts AS "organization.statement_texts", o.session_detail AS "organization.session_detail",
       o.exception_approval AS "organization.exception_approval", o.catalog AS "organization.catalog",
       o.protected_tags AS "organization.protected_tags",
       o.due_days_critical AS "organization.due_days_critical", o.due_days_high AS "organization.due_days_high",
       o.due_days_medium AS "organization.due_days_medium", o.due_days_low AS "organization.due_days_low",
       o.watch_silent_minutes AS "organization.watch_silent_minutes",
       o.watch_volume_percent AS "organization.watch_volume_percent",
       o.watch_lock_wait_minutes AS "organization.watch_lock_wait_minutes",
       o.watch_wraparound_percent AS "organization.watch_wraparound_percent", o.watch_advisory_locks AS "organization.watch_advisory_locks", o.demo AS "organization.demo",
       o.created_at AS "organization.created_at"
FROM tokens t
JOIN members m ON m.id = t.member_id
JOIN organizations o ON o.id = t.organization_id
WHERE t.token_hash = $1
