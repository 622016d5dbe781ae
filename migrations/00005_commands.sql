-- Owner: commands. What the write side must know at once and exactly.
-- +goose Up

-- A claim is a report request that is Queued or Building: at most one for each
-- identity. It is made with Queued and released with Ready or Failed, in their
-- transactions, so a claim without such a request does not exist.
CREATE TABLE report_claims (
    organization_id uuid NOT NULL,
    fingerprint     text NOT NULL,
    report_id       uuid NOT NULL UNIQUE,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, fingerprint)
);

-- The creations of the last hour, for the limit on one member. Older rows of a
-- member go when that member creates again.
CREATE TABLE report_creations (
    report_id       uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    member_id       uuid NOT NULL,
    created_at      timestamptz NOT NULL
);
CREATE INDEX report_creations_of_member ON report_creations (organization_id, member_id, created_at);

-- The databases that each instance has now, by external id: what a collector
-- compares its findings with, and how an alert finds its database where that is
-- called like no other of the organization. A read model may lag; this is written
-- with the event.
CREATE TABLE instance_databases (
    instance_id     uuid NOT NULL,
    external_id     text COLLATE "C" NOT NULL,
    organization_id uuid NOT NULL,
    PRIMARY KEY (instance_id, external_id)
);
CREATE INDEX instance_databases_by_id ON instance_databases (organization_id, external_id);

-- Whom the inputs document of a Ready report names, written in the transaction of
-- Ready, until those inputs are erased.
CREATE TABLE report_people (
    organization_id uuid NOT NULL,
    report_id       uuid NOT NULL,
    member_id       uuid NOT NULL,
    PRIMARY KEY (report_id, member_id)
);
CREATE INDEX report_people_of_member ON report_people (organization_id, member_id, report_id);

-- +goose Down
DROP TABLE report_people, instance_databases, report_creations, report_claims;
