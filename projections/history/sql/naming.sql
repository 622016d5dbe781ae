-- Reports whose scope names one of some instances ($3; none: any), and lies within some
-- ($6; NULL: the whole organization). No index has scopes: it looks at
-- each report of the kinds, in the order of the listing.
FROM report_history_v1.reports r
WHERE r.organization_id = $1
  AND r.kind = ANY ($2)
  AND (cardinality($3::uuid[]) = 0 OR jsonb_exists_any(r.scope -> 'instanceIds', $3::uuid[]::text[]))
  AND ($6::jsonb IS NULL OR r.scope -> 'instanceIds' <> '[]' AND r.scope -> 'instanceIds' <@ $6)
  AND (cardinality($4::text[]) = 0
       OR CASE WHEN r.status = 'Ready' AND r.expires_at <= $5 THEN 'Expired' ELSE r.status END = ANY ($4))
