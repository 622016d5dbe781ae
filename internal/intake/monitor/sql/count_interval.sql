-- Who counts an interval of statements says until when; whoever thinks that they were
-- counted until another moment than they were counts nothing.
UPDATE monitor_leases
SET statements_at = $4
WHERE organization_id = $1 AND instance_id = $2 AND token = $3 AND statements_at IS NOT DISTINCT FROM $5
