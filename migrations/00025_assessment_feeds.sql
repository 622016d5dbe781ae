-- Owned by internal/assessment. Instances that feeds assess: what they sent lies in
-- assessments and assessment_classifications beside what collectors found, with the time
-- that the feed tells as recorded_at.
-- +goose Up
CREATE TABLE assessment_feeds (
    organization_id    uuid        NOT NULL,
    instance_id        uuid        NOT NULL,
    -- The row is what calls about an instance take turns by.
    last_assessed_at   timestamptz, -- the greatest that was sent
    last_classified_at timestamptz,
    PRIMARY KEY (organization_id, instance_id)
);

-- +goose Down
DROP TABLE assessment_feeds;
