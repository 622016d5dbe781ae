CREATE INDEX IF NOT EXISTS instances_listing ON instances (organization_id, (lower(name)) COLLATE "C", id);
-- The counts and the first registration, from the index alone.
CREATE INDEX IF NOT EXISTS instances_created ON instances (organization_id, created_at);
-- What filters and the labels of alerts call an instance.
CREATE INDEX IF NOT EXISTS instances_named ON instances (organization_id, name);
CREATE INDEX IF NOT EXISTS instances_keyed ON instances (organization_id, external_id);
CREATE INDEX IF NOT EXISTS instances_hosted ON instances (organization_id, host);
-- The counts, of the organization and of some of its instances, from the index alone.
CREATE INDEX IF NOT EXISTS databases_created ON databases (organization_id, instance_id, created_at);
