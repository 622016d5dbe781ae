-- Of every organization: it is the log that is verified. A proof has some kilobytes, and its
-- checkpoint begins with what was signed.
SELECT report_id, substr(proof, position('"checkpoint":"'::bytea IN proof), 400) AS checkpoint
FROM report_proofs WHERE report_id > $1
ORDER BY report_id LIMIT $2
