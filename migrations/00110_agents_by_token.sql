-- Owner: internal/intake/heartbeat. How agents are, by token: the same sender id by two tokens
-- is two agents. Its primary keys cannot change under programs from before, whose INSERTs name
-- them, so these are new tables.
-- Step: expand
-- A program from before reads and writes agent_reports and agent_instances, which the release
-- after drops. Each shows the reports that came to programs of its own version.
-- +goose Up
CREATE TABLE agents (
    organization_id uuid        NOT NULL,
    token_id        uuid        NOT NULL, -- null UUID: from before, and of a token that is not known
    sender          text        NOT NULL,
    name            text        NOT NULL,
    version         text        NOT NULL,
    host            text        NOT NULL,
    buffer          json        NOT NULL,
    received_at     timestamptz NOT NULL,
    loops           jsonb       NOT NULL DEFAULT '[]', -- background loops that fell: [{loop, falls, lastAt, inTrouble}]
    PRIMARY KEY (organization_id, token_id, sender)
) WITH (fillfactor = 70);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON agents FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

CREATE TABLE agent_servers (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    token_id        uuid        NOT NULL, -- with sender: the agent that reported it last
    sender          text        NOT NULL,
    error           json,                 -- why it cannot be reached; null: it can be
    missing_grants  json        NOT NULL, -- objects
    received_at     timestamptz NOT NULL,
    PRIMARY KEY (organization_id, instance_id)
) WITH (fillfactor = 70);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON agent_servers FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- The token of a sender is the last one that it sent samples with.
CREATE TEMPORARY TABLE token_of ON COMMIT DROP AS
SELECT DISTINCT ON (organization_id, sender) organization_id, sender, token_id
FROM sender_counts
WHERE sender <> ''
ORDER BY organization_id, sender, last_at DESC;

-- What is longer was not an agent of ours, whose next report comes within a minute. It may have U+0000,
-- which jsonb cannot take.
INSERT INTO agents
SELECT r.organization_id, coalesce(t.token_id, '00000000-0000-0000-0000-000000000000'), r.sender, r.name, r.version, r.host,
    CASE WHEN length(r.buffer::text) < 4000 THEN r.buffer ELSE '{}' END, r.received_at
FROM agent_reports r LEFT JOIN token_of t USING (organization_id, sender);

INSERT INTO agent_servers
SELECT i.organization_id, i.instance_id, coalesce(t.token_id, '00000000-0000-0000-0000-000000000000'), i.sender, i.error,
    (SELECT coalesce(json_agg(g ->> 'object'), '[]') FROM json_array_elements(i.missing_grants) g), i.received_at
FROM agent_instances i LEFT JOIN token_of t USING (organization_id, sender);

DROP TABLE token_of;

-- +goose Down
DROP TABLE agent_servers;
DROP TABLE agents;
