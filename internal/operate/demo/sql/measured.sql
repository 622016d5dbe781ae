-- Notes that the minutes from $2 to $3 are measured, where nobody has measured any
-- of them yet.
INSERT INTO demo_measured AS known (organization_id, minutes)
VALUES ($1, tstzmultirange(tstzrange($2, $3)))
ON CONFLICT (organization_id) DO UPDATE SET minutes = known.minutes + excluded.minutes
WHERE NOT known.minutes && excluded.minutes
