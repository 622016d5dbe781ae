-- Owner: eventstore. Appends are no longer written in groups.
-- Step: expand
-- A program from before has the statement, and no command of it that calls it.
-- +goose Up
DROP FUNCTION append_each(text, uuid[], text[], uuid[], bigint[], integer[], text[], integer[], timestamptz[],
    bytea[], bytea[], bytea[]);

-- +goose Down
-- +goose StatementBegin
CREATE FUNCTION append_each(
    p_log text,
    p_organizations uuid[], p_stream_types text[], p_streams uuid[], p_expected bigint[],
    e_streams integer[], e_types text[], e_schema_versions integer[], e_occurred_at timestamptz[],
    e_data bytea[], e_metadata bytea[], e_digests bytea[])
RETURNS SETOF bigint LANGUAGE plpgsql
-- Custom plans would be made anew for every call, as for append_events.
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_position  bigint;
    v_hash      bytea;
    v_recorded  timestamptz;
    v_sent      bytea;
    v_versions  bigint[]; -- NULL where the append is left out
    -- Filled from the start: an empty array begins at the first element it is given.
    v_firsts    bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_streams)]);
    v_lasts     bigint[] := v_firsts;
    v_positions bigint[] := array_fill(0::bigint, ARRAY[cardinality(e_streams)]);
    v_each      bigint[] := v_positions;
    v_hashes    bytea[] := array_fill(''::bytea, ARRAY[cardinality(e_streams)]);
    s           integer;
BEGIN
    SELECT h.position, h.hash, greatest(h.recorded_at, clock_timestamp())
    INTO STRICT v_position, v_hash, v_recorded
    FROM log_head h WHERE h.log = p_log FOR UPDATE;

    SELECT array_agg(CASE
               WHEN e.version IS NULL AND w.expected <= 0 THEN 0
               WHEN e.log = p_log AND e.organization_id = w.organization_id AND e.stream_type = w.stream_type
                   AND (w.expected < 0 OR w.expected = e.version) THEN e.version
           END ORDER BY w.n)
    INTO v_versions
    FROM unnest(p_streams, p_organizations, p_stream_types, p_expected)
        WITH ORDINALITY AS w (stream_id, organization_id, stream_type, expected, n)
    LEFT JOIN LATERAL (
        SELECT e.version, e.log, e.organization_id, e.stream_type
        FROM events e WHERE e.stream_id = w.stream_id ORDER BY e.version DESC LIMIT 1
    ) e ON true;

    v_sent := timestamptz_send(v_recorded);
    FOR i IN 1 .. cardinality(e_streams) LOOP
        s := e_streams[i];
        CONTINUE WHEN v_versions[s] IS NULL;
        v_position := v_position + 1;
        IF v_versions[s] = 0 THEN
            v_firsts[s] := v_position;
        END IF;
        v_versions[s] := v_versions[s] + 1;
        v_hash := sha256(v_hash || e_digests[i] || v_sent);
        v_positions[i] := v_position;
        v_lasts[s] := v_position;
        v_each[i] := v_versions[s];
        v_hashes[i] := v_hash;
    END LOOP;

    INSERT INTO streams (stream_id, log, organization_id, stream_type, first_position)
    SELECT w.stream_id, p_log, w.organization_id, w.stream_type, w.first
    FROM unnest(p_streams, p_organizations, p_stream_types, v_firsts) AS w (stream_id, organization_id, stream_type, first)
    WHERE w.first > 0;

    INSERT INTO events (log, position, organization_id, stream_type, stream_id, version, type, schema_version,
                        occurred_at, recorded_at, data, metadata, digest, hash)
    SELECT p_log, e.position, p_organizations[e.stream], p_stream_types[e.stream], p_streams[e.stream],
           e.version, e.type, e.schema_version, e.occurred_at, v_recorded, e.data, e.metadata, e.digest, e.hash
    FROM unnest(e_streams, v_positions, v_each, e_types, e_schema_versions, e_occurred_at, e_data, e_metadata, e_digests, v_hashes)
        AS e (stream, position, version, type, schema_version, occurred_at, data, metadata, digest, hash)
    WHERE e.position > 0;

    UPDATE log_head h SET position = v_position, hash = v_hash, recorded_at = v_recorded WHERE h.log = p_log;
    RETURN QUERY SELECT unnest(v_lasts);
END $$;
-- +goose StatementEnd
