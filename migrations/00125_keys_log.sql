-- Owner: eventstore. The log of what became of the installation's keys.
-- Step: expand
-- A program from before does not know the log, and goes on keeping its keys in
-- published_keys. Rotate, retire and revoke keys with the new program alone.
-- +goose Up
INSERT INTO log_head (log, position, hash, recorded_at)
VALUES ('keys', 0, decode(repeat('00', 32), 'hex'), '2000-01-01T00:00:00Z') ON CONFLICT DO NOTHING;
INSERT INTO log_verifications (log) VALUES ('keys') ON CONFLICT DO NOTHING;

-- +goose Down
-- What was appended stays with the log: a log without its head could not be told from one
-- that somebody took away.
DELETE FROM log_verifications WHERE log = 'keys';
DELETE FROM log_head WHERE log = 'keys' AND position = 0;
