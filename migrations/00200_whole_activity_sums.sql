-- Owner: internal/measurements/pgstore. The sum of each line of a row of activity, so that a reader of the greatest
-- lines does not read all of the row, and what each line's sessions wait for by class.
-- Step: expand
-- A program from before writes lines without sums. The trigger takes away the sums of what it replaces, and readers
-- read rows without sums as they did before.
-- +goose Up
ALTER TABLE whole_activity ADD COLUMN sums bytea; -- activityrow.Sums; null: there are none
ALTER TABLE whole_activity ADD COLUMN classes bytea; -- of each line, where there are sums (activityrow.Line.ByClass)
ALTER TABLE whole_activity ALTER COLUMN sums SET STORAGE EXTERNAL; -- hashes, which compress badly
ALTER TABLE whole_activity ALTER COLUMN classes SET STORAGE EXTERNAL; -- pieces of it are read

-- +goose StatementBegin
CREATE FUNCTION take_sums_away() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.sums := NULL;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
-- Sums that stay as they are belong to other lines, unless the lines stay, too.
CREATE TRIGGER sums_of_other_lines BEFORE UPDATE OF lines ON whole_activity FOR EACH ROW
    WHEN (NEW.sums = OLD.sums AND NEW.lines <> OLD.lines) EXECUTE FUNCTION take_sums_away();

-- +goose Down
DROP TRIGGER sums_of_other_lines ON whole_activity;
DROP FUNCTION take_sums_away();
ALTER TABLE whole_activity DROP COLUMN classes, DROP COLUMN sums;
