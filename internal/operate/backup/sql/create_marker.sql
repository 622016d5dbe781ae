-- The marker of a restore that is not finished.
CREATE TABLE muster_restore (
    backup   text        NOT NULL, -- identity of the manifest
    made_at  timestamptz NOT NULL, -- the backup
    begun_at timestamptz NOT NULL DEFAULT now())
