-- Owner: internal/proof/checkpoint. How far serve has verified each log, and what did not fit.
-- Step: expand
-- A program from before neither reads nor writes it: it verifies nothing by itself.
-- +goose Up

CREATE TABLE log_verifications (
    log            text        PRIMARY KEY,
    position       bigint      NOT NULL DEFAULT 0,     -- how far the pass under way has come
    hash           bytea,                              -- of the event there; null: none is there
    recorded_at    timestamptz,                        -- of the last event that was there
    begun_at       timestamptz NOT NULL DEFAULT now(), -- the pass under way
    whole_at       timestamptz NOT NULL DEFAULT now(), -- when the last whole pass began; at first, when there was none
    whole_position bigint      NOT NULL DEFAULT 0,     -- and how far it went
    findings       jsonb       NOT NULL DEFAULT '[]',  -- what does not fit, [{first, last, tree, sentence}]
    accepted       jsonb       NOT NULL DEFAULT '[]',  -- of it what an operator goes on with, [{first, last}]
    fence          bigint      NOT NULL DEFAULT 0,     -- of who verifies the next events
    due_at         timestamptz NOT NULL DEFAULT now()  -- when somebody does next
) WITH (fillfactor = 50);

INSERT INTO log_verifications (log) SELECT log FROM log_head;

-- +goose Down
DROP TABLE log_verifications;
