-- Owner: internal/watch. The figures of watch rules by the minute, for the preview of a rule.
-- Step: expand
-- A program from before writes none: the preview has a gap for as long as only such programs take samples.
-- +goose Up
CREATE TABLE sign_hours (
    organization_id uuid        NOT NULL,
    rule            text        NOT NULL,
    instance_id     uuid        NOT NULL,
    mount           text        NOT NULL,
    hour            timestamptz NOT NULL,
    at              timestamptz NOT NULL, -- of the newest figure
    minutes         real[]      NOT NULL, -- of each minute of the hour the figure that was farthest on the side of a breach; null: none
    PRIMARY KEY (organization_id, rule, instance_id, mount, hour)
) WITH (fillfactor = 75); -- a row is written once a minute, in place
CREATE INDEX sign_hours_old ON sign_hours (hour);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON sign_hours FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE sign_hours;
