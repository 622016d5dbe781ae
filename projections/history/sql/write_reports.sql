INSERT INTO reports (id, organization_id, kind, status, scope, scope_label, requester_id, created_at, started_at,
                     finished_at, expires_at, file, pdf_sha256, error_code, error_message, inputs_erased_at,
                     inputs_rule, version, ready_position)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::jsonb[], $6::text[], $7::uuid[],
                     $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::jsonb[],
                     $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::text[], $18::bigint[],
                     $19::bigint[])
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status,
    started_at = excluded.started_at,
    finished_at = excluded.finished_at,
    expires_at = excluded.expires_at,
    file = excluded.file,
    pdf_sha256 = excluded.pdf_sha256,
    error_code = excluded.error_code,
    error_message = excluded.error_message,
    inputs_erased_at = excluded.inputs_erased_at,
    inputs_rule = excluded.inputs_rule,
    version = excluded.version,
    ready_position = excluded.ready_position
