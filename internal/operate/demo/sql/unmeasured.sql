-- The minutes from $2 to $3 that are not measured yet, the latest first.
SELECT lower(gap) AS since, upper(gap) AS until
FROM unnest(tstzmultirange(tstzrange($2, $3))
            - coalesce((SELECT minutes FROM demo_measured WHERE organization_id = $1), '{}')) AS gap
ORDER BY lower(gap) DESC
