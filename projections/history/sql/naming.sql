-- Reports whose scope names one of some instances ($5), and lies within some ($6; NULL: the whole
-- organization). MATERIALIZED, so that of all reports only those are read that reports_naming finds:
-- in the order of the listing, a page of a small team would look at each report of the kinds.
WITH r AS MATERIALIZED (
    SELECT * FROM report_history_v2.reports WHERE scope -> 'instanceIds' ?| $5::uuid[]::text[]
)
SELECT {{columns}}
FROM r
WHERE r.organization_id = $1
  AND r.kind = ANY ($2)
  AND ($6::uuid[] IS NULL OR r.scope -> 'instanceIds' <@ to_jsonb($6::uuid[]))
  AND (cardinality($3::text[]) = 0
       OR CASE WHEN r.status = 'Ready' AND r.expires_at <= $4 THEN 'Expired' ELSE r.status END = ANY ($3))
