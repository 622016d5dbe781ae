-- Owner: internal/accounts. Whom identity providers vouch for.
-- +goose Up

-- A person at a provider is one member, and a member one person at a provider:
-- once they are linked, their address opens the account to nobody else who is
-- given it there.
CREATE TABLE member_identities (
    issuer          text NOT NULL,
    subject         text NOT NULL, -- what the provider calls the person; never an address of ours
    organization_id uuid NOT NULL REFERENCES organizations (id),
    member_id       uuid NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    linked_at       timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject),
    CONSTRAINT member_identities_one_subject UNIQUE (member_id, issuer)
);

-- +goose Down
DROP TABLE member_identities;
