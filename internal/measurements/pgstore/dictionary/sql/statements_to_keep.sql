-- Which of these statements ($5: the digest of its text, 0 for none) the dictionary does
-- not have, or not like this. One that goes on is written once in each hour ($4) of its series.
SELECT n.place - 1
FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::bigint[])
    WITH ORDINALITY AS n (series_id, hash, first_seen, hour, text_digest, place)
LEFT JOIN measured_statements s ON s.series_id = n.series_id AND s.hash = n.hash
WHERE s.hash IS NULL OR n.first_seen < s.first_seen OR s.last_seen < n.hour
   OR n.text_digest <> 0 AND n.text_digest IS DISTINCT FROM s.text_digest
ORDER BY n.place
