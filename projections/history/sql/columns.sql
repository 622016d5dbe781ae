r.id, r.organization_id, r.kind, r.status, r.scope, r.scope_label, r.requester_id, r.created_at,
       r.started_at, r.finished_at, r.expires_at, r.file, r.error_code, r.error_message, r.inputs_erased_at,
       r.inputs_rule, r.version,
       (SELECT coalesce(jsonb_agg(p.member_id ORDER BY p.ordinal), '[]')
        FROM report_history_v2.recipients p WHERE p.report_id = r.id AND p.ordinal IS NOT NULL)
