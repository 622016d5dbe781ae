-- Owned by internal/assessment. What each check answered, beside the facts of an
-- assessment: a question about one check over months reads a few bytes of each.
-- +goose Up
-- By check: [{"d": database, "s": status, "r": reason, "n": objects that fail}]; under ""
-- why there are none. Null: nobody has taken them out of the facts yet.
ALTER TABLE assessments ADD COLUMN answers jsonb;
CREATE INDEX assessments_unanswered ON assessments (id) WHERE answers IS NULL;

-- +goose Down
ALTER TABLE assessments DROP COLUMN answers;
