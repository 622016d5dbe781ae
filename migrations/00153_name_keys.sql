-- Owner: internal/measurements/pgstore. What the names of an organization's users, applications and clients are hashed
-- with.
-- Step: expand
-- A program from before hashes names without a key: they count as other ones.
-- +goose Up

-- Whoever has no key can neither tell whose a hash is nor try names. It is replaced when the names are deleted
-- (session_detail), so that the hashes of before lead to nobody, whoever comes back.
CREATE TABLE measured_name_keys (
    organization_id uuid  PRIMARY KEY,
    key             bytea NOT NULL CHECK (octet_length(key) = 32)
);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON measured_name_keys FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE measured_name_keys;
