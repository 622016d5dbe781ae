-- Deletes the names of people of an organization, and the key of their hashes: $2 is the next one.
WITH key AS (
    UPDATE measured_name_keys SET key = $2 WHERE organization_id = $1
)
DELETE FROM measured_names
WHERE organization_id = $1 AND dimension IN ('user', 'application', 'client')
