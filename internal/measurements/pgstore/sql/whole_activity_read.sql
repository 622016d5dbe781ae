-- What a whole has of a dimension ($3) in rows of a width ($4) that begin within a time ($5 to $6): their sums and, if
-- all is wanted ($7), there are none, or the row begins before ($8) or after ($9) those that are wanted as a whole,
-- their lines; and their classes if all is wanted.
SELECT start, sums, CASE WHEN $7 OR sums IS NULL OR start < $8 OR start > $9 THEN lines END AS lines, CASE WHEN $7 THEN classes END AS classes
FROM whole_activity
WHERE organization_id = $1 AND engine = $2 AND dimension = $3 AND width = $4 AND start >= $5 AND start < $6
ORDER BY start
