-- Owned by internal/proof. The proof of each report, as it was made after Ready. What
-- others add to its checkpoint is in log_checkpoints.
-- +goose Up
CREATE TABLE report_proofs (
    report_id       uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    proof           bytea       NOT NULL, -- proof.json, byte for byte
    made_at         timestamptz NOT NULL DEFAULT now(),
    size            bigint      NOT NULL, -- of the checkpoint
    timestamp_token bytea,                -- RFC 3161, DER, of the attestation; null: there is none yet
    signed_sha256   text                  -- hex, of the PDF with its second revision; null: there is none yet
);
CREATE INDEX report_proofs_signed ON report_proofs (organization_id, signed_sha256) WHERE signed_sha256 IS NOT NULL;

-- +goose Down
DROP TABLE report_proofs;
