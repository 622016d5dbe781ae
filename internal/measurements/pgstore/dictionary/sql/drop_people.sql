-- Deletes the names of people of an organization.
DELETE FROM measured_names
WHERE organization_id = $1 AND dimension IN ('user', 'application', 'client')
