-- The mails about a report: all of them without their bytes, which only their size and
-- digest are reckoned of, or with $3 that to one member with them.
SELECT organization_id, report_id, member_id, requester_id, sent_to, subject, sent_at,
       octet_length(message) AS size_bytes, encode(sha256(message), 'hex') AS sha256,
       CASE WHEN $3::uuid IS NULL THEN ''::bytea ELSE message END AS message
FROM report_mails
WHERE organization_id = $1 AND report_id = $2 AND ($3::uuid IS NULL OR member_id = $3)
