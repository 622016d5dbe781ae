INSERT INTO recipients (report_id, member_id, organization_id, ordinal, delivery, smtp_code, message_id,
                        delivered_at, created_at, status, expires_at, ready_position)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::int[], $7::text[],
                     $8::timestamptz[], $9::timestamptz[], $10::text[], $11::timestamptz[], $12::bigint[])
ON CONFLICT (report_id, member_id) DO UPDATE SET
    ordinal = excluded.ordinal,
    delivery = excluded.delivery,
    smtp_code = excluded.smtp_code,
    message_id = excluded.message_id,
    delivered_at = excluded.delivered_at,
    status = excluded.status,
    expires_at = excluded.expires_at,
    ready_position = excluded.ready_position
WHERE (recipients.ordinal, recipients.delivery, recipients.smtp_code, recipients.message_id, recipients.delivered_at,
       recipients.status, recipients.expires_at, recipients.ready_position)
      IS DISTINCT FROM
      (excluded.ordinal, excluded.delivery, excluded.smtp_code, excluded.message_id, excluded.delivered_at,
       excluded.status, excluded.expires_at, excluded.ready_position)
