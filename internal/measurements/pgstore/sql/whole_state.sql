-- Whether the rows of a whole have all of a window: nothing of it is missing, or has been
-- waiting for so long that nobody seems to make it. And whether samples in it are of a
-- part only.
SELECT EXISTS (
    SELECT FROM wholes
    WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND begun
) AND NOT EXISTS (
    SELECT FROM whole_missing
    WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND day > $4::timestamptz - interval '1 day' AND day < $5
) AND NOT EXISTS (
    SELECT FROM whole_marks
    WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND hour > $4::timestamptz - interval '1 hour' AND hour < $5
      AND marked_at < now() - interval '5 minutes'
) AS made, EXISTS (
    SELECT FROM measured_series
    WHERE organization_id = $1 AND kind = $2 AND engine = $3
      AND partial_from IS NOT NULL AND partial_from < $5 AND partial_to >= $4
) AS partial
