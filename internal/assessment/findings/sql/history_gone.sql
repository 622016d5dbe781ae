-- By the index on organization and instance, and that on gone_at.
WITH stay AS (
    SELECT severity, check_id, database_name, first_seen_at AS first, gone_at AS gone
    FROM findings
    WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[]) AND assessed AND gone_at > ($4::timestamptz[])[1]
    UNION ALL
    SELECT severity, check_id, database_name, earlier_first_seen_at, earlier_gone_at
    FROM findings
    WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[]) AND assessed AND earlier_gone_at > ($4::timestamptz[])[1]
)
SELECT p.at, s.severity, count(*) AS gone, count(*) FILTER (WHERE s.first + ($5::interval[])[s.severity + 1] < p.at) AS overdue
FROM unnest($4::timestamptz[]) AS p (at)
JOIN stay s ON s.first <= p.at AND s.gone > p.at AND s.check_id = ANY ($3) AND ($6::text IS NULL OR s.database_name IN ('', $6))
GROUP BY p.at, s.severity
