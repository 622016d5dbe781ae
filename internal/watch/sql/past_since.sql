-- Since when there are figures of the rules $2, after $3, of each subject.
SELECT instance_id, min(hour) AS since
FROM sign_hours
WHERE organization_id = $1 AND rule = ANY ($2) AND hour >= $3
GROUP BY instance_id
