-- The report that holds the claim ($1, $2): $3 where nobody else did. A claim
-- that another transaction is making or releasing is waited for; either way the
-- row is locked until this one ends. The update that changes nothing is what
-- makes PostgreSQL return and lock the row that was there.
INSERT INTO report_claims AS c (organization_id, fingerprint, report_id, created_at, scheduled)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (organization_id, fingerprint) DO UPDATE SET report_id = c.report_id
RETURNING report_id
