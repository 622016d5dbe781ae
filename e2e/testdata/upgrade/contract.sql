-- Owner: internal/httpapi. The second step: nobody reads or writes the old name any more.
-- Step: contract
-- +goose Up
DROP TRIGGER same_makes ON idempotency_keys;
DROP FUNCTION same_makes;
ALTER TABLE idempotency_keys ALTER COLUMN makes SET NOT NULL;
ALTER TABLE idempotency_keys DROP COLUMN made;

-- +goose Down
ALTER TABLE idempotency_keys ADD COLUMN made uuid;
UPDATE idempotency_keys SET made = makes;
ALTER TABLE idempotency_keys ALTER COLUMN made SET NOT NULL, ALTER COLUMN makes DROP NOT NULL;
-- +goose StatementBegin
CREATE FUNCTION same_makes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.makes := coalesce(NEW.makes, NEW.made);
        NEW.made := NEW.makes;
    ELSIF NEW.made IS DISTINCT FROM OLD.made THEN
        NEW.makes := NEW.made;
    ELSE
        NEW.made := NEW.makes;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER same_makes BEFORE INSERT OR UPDATE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION same_makes();
