-- Owner: internal/measurements/blocking. Who held up whom: episodes, and the samples that they are made of.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- A look at a server of which sessions waited, or the first one after of which none did. Those of
-- advisory locks are apart. The tree is null where none is kept: nobody waited, or a sample of
-- the same minute has one.
CREATE TABLE blocking_samples (
    organization_id uuid             NOT NULL,
    instance_id     uuid             NOT NULL,
    advisory        boolean          NOT NULL,
    at              timestamptz      NOT NULL,
    waiting         integer          NOT NULL, -- sessions; 0: nobody waited
    seconds         double precision NOT NULL, -- session-seconds that they waited since the look before
    root            jsonb,                     -- who held most of them up (Held); null: nobody waited
    tree            jsonb,                     -- Tree
    PRIMARY KEY (organization_id, instance_id, advisory, at)
);
CREATE INDEX blocking_samples_at ON blocking_samples (at);

-- Samples of one class of a server that follow each other, in each of which somebody waited. Kept
-- longer than they are.
CREATE TABLE blocking_episodes (
    organization_id uuid             NOT NULL,
    id              uuid             NOT NULL,
    instance_id     uuid             NOT NULL,
    advisory        boolean          NOT NULL,
    first_at        timestamptz      NOT NULL,
    last_at         timestamptz      NOT NULL, -- of the last sample in which somebody waited
    ended_at        timestamptz,               -- of the first one without; null: there is none
    waiting         integer          NOT NULL, -- sessions, at most
    peak_at         timestamptz      NOT NULL, -- when so many did
    seconds         double precision NOT NULL,
    root            jsonb            NOT NULL, -- who held most of them up then (Held)
    PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX blocking_episodes_first ON blocking_episodes (organization_id, instance_id, advisory, first_at);
CREATE INDEX blocking_episodes_at ON blocking_episodes (organization_id, first_at, id);

CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON blocking_samples FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON blocking_episodes FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE blocking_samples, blocking_episodes;
