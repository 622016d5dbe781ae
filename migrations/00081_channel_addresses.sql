-- Owner: commands (addresses, confirmations) and internal/notify (who was mailed). Addresses
-- of e-mail channels that are no members'.
-- Step: expand
-- A program from before knows nothing of them, and mails the members of a channel alone.
-- +goose Up

CREATE TABLE channel_addresses (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    channel_id      uuid        NOT NULL,
    address         text        NOT NULL,
    created_at      timestamptz NOT NULL,
    created_by      uuid        NOT NULL,
    asked_at        timestamptz, -- when the last mail went out that asks for confirmation
    confirm_digest  bytea,       -- SHA-256 of the token in it; null once it was used
    confirm_until   timestamptz,
    confirmed_at    timestamptz, -- null: nothing else is sent there
    leave_token     text        NOT NULL -- in each mail to it: whoever has it can end them
);
CREATE UNIQUE INDEX channel_addresses_once ON channel_addresses (channel_id, lower(address));
CREATE INDEX channel_addresses_of_organization ON channel_addresses (organization_id);
CREATE UNIQUE INDEX channel_addresses_confirm ON channel_addresses (confirm_digest) WHERE confirm_digest IS NOT NULL;
CREATE UNIQUE INDEX channel_addresses_leave ON channel_addresses (leave_token);

-- The mails that asked within the last day, also addresses that were removed since: they
-- are few, so that nobody is molested.
CREATE TABLE confirmation_mails (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    address         text        NOT NULL,
    sent_at         timestamptz NOT NULL
);
CREATE INDEX confirmation_mails_of_organization ON confirmation_mails (organization_id, sent_at);

ALTER TABLE delivery_mails ADD COLUMN outside boolean NOT NULL DEFAULT false; -- member_id is an address of the channel

CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON channel_addresses FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON confirmation_mails FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
ALTER TABLE delivery_mails DROP COLUMN outside;
DROP TABLE confirmation_mails, channel_addresses;
