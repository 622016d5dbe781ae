SELECT v.log, h.position AS head, greatest(v.position, least(v.whole_position, h.position)) AS position,
       extract(epoch FROM clock_timestamp() - v.whole_at)::float8 AS age, v.findings
FROM log_verifications v JOIN log_head h ON h.log = v.log
ORDER BY array_position(ARRAY['reports', 'organization', 'fleet', 'keys'], v.log)
