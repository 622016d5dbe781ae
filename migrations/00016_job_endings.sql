-- Owner: handlers/jobs. How each attempt at a job ended, oldest first: a burial
-- that cannot be committed at once must not forget why the job failed.
-- +goose Up
ALTER TABLE jobs ADD COLUMN endings jsonb NOT NULL DEFAULT '[]';

-- The latest 50 are kept: expiries and erasures are tried for ever, once an hour.
-- +goose StatementBegin
CREATE FUNCTION job_ending(endings jsonb, attempt integer, at timestamptz, worker text, how text, class text, error text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT (CASE WHEN jsonb_array_length(endings) >= 50 THEN endings - 0 ELSE endings END) || jsonb_build_array(jsonb_build_object(
        'attempt', attempt, 'at', at, 'worker', worker, 'how', how, 'class', class, 'error', error))
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION job_ending(jsonb, integer, timestamptz, text, text, text, text);
ALTER TABLE jobs DROP COLUMN endings;
