-- The signs of the rules in $1 that said something is wrong, or whose end was not told yet.
-- They need another word when it is over.
SELECT organization_id, instance_id, rule, since IS NOT NULL AND until IS NULL AS open
FROM signs
WHERE rule = ANY ($1) AND (value > 0 OR since IS NOT NULL)
