SELECT report_id, member_id, ordinal, delivery, smtp_code, message_id, delivered_at
FROM recipients WHERE report_id = ANY ($1)
ORDER BY report_id, ordinal NULLS LAST, member_id
