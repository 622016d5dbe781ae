CREATE TABLE scores (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    day             date        NOT NULL,
    at              timestamptz NOT NULL, -- of the day's last assessment
    score           smallint,             -- null: no check had an answer
    grade           text        NOT NULL,
    failed          integer     NOT NULL,
    domains         jsonb       NOT NULL, -- json has no equality, by which two generations are compared
    PRIMARY KEY (organization_id, instance_id, day)
);

CREATE TABLE changes (
    assessment_id   uuid        NOT NULL,
    nth             integer     NOT NULL, -- of the changes of its event
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    at              timestamptz NOT NULL,
    kind            text        NOT NULL,
    key             text        NOT NULL,
    before_digest   text        NOT NULL, -- empty: it was not there
    after_digest    text        NOT NULL, -- empty: it is gone
    PRIMARY KEY (assessment_id, nth)
);
CREATE INDEX changes_instance ON changes (organization_id, instance_id, at DESC);
