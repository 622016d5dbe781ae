SELECT id, organization_id, kind, status, scope, scope_label, requester_id, created_at, started_at, finished_at,
       expires_at, file, error_code, error_message, inputs_erased_at, inputs_rule, version, ready_position
FROM reports WHERE id = ANY ($1)
