-- Owner: internal/httpapi. The first step of giving a column another name, for TestLongUpgrade:
-- programs of both names write.
-- Step: expand
-- +goose Up
ALTER TABLE idempotency_keys ADD COLUMN makes uuid;
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
UPDATE idempotency_keys SET makes = made;

-- +goose Down
DROP TRIGGER same_makes ON idempotency_keys;
DROP FUNCTION same_makes;
ALTER TABLE idempotency_keys DROP COLUMN makes;
