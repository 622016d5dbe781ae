INSERT INTO counts (organization_id, kind, status, reports)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (organization_id, kind, status) DO UPDATE SET reports = counts.reports + excluded.reports
