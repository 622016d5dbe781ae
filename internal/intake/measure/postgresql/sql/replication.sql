-- PostgreSQL 13 and newer: who follows whom, as one document. Functions that only a primary or only a standby answers
-- are called behind a CASE. Columns that only newer versions have are read from whole rows (to_jsonb). Positions in the
-- log are bytes. Of primary_conninfo only the receiver's name leaves the server, and whether it is set.
-- What stands between "-- [part" and "-- part]" is left out where the account may not read it.
WITH here AS MATERIALIZED (
    SELECT r.standby,
           CASE WHEN r.standby THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) ELSE pg_current_wal_lsn() END AS lsn,
           CASE WHEN r.standby THEN pg_last_wal_replay_lsn() END AS replayed,
           CASE WHEN r.standby THEN pg_is_wal_replay_paused() END AS paused,
           CASE WHEN r.standby THEN @pause_state@ END AS pause_state,
           CASE WHEN r.standby THEN pg_last_xact_replay_timestamp() END AS replayed_at,
           CASE WHEN NOT r.standby THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END AS timeline
    FROM (SELECT pg_is_in_recovery() AS standby) AS r
)
SELECT jsonb_build_object(
    -- [system
    'system', (SELECT system_identifier::text FROM pg_control_system()),
    -- system]
    -- [receiver
    'receiver', (
        SELECT jsonb_build_object(
            'status', w.status, 'host', w.sender_host, 'port', w.sender_port, 'slot', w.slot_name, 'timeline', w.received_tli,
            'end', w.latest_end_lsn - '0/0'::pg_lsn, 'endSent', extract(epoch FROM w.latest_end_time),
            'sent', extract(epoch FROM w.last_msg_send_time), 'received', extract(epoch FROM w.last_msg_receipt_time),
            'name', coalesce(
                substring(w.conninfo FROM '(?:^|\s)application_name=''((?:[^''\\]|\\.)*)'''), substring(w.conninfo FROM '(?:^|\s)application_name=([^''\s]\S*)'),
                substring(w.conninfo FROM '(?:^|\s)fallback_application_name=''((?:[^''\\]|\\.)*)'''), substring(w.conninfo FROM '(?:^|\s)fallback_application_name=([^''\s]\S*)')))
        FROM pg_stat_wal_receiver AS w
    ),
    -- receiver]
    -- [peers
    'peers', (
        SELECT jsonb_agg(p.of) FROM (
            SELECT jsonb_build_object(
                'name', r.application_name, 'host', coalesce(host(r.client_addr), CASE WHEN r.state IS NOT NULL THEN 'local' END),
                'state', r.state, 'sync', r.sync_state, 'slot', s.slot_name, 'logical', s.slot_type = 'logical',
                'behind', here.lsn - r.replay_lsn, 'unsent', here.lsn - r.sent_lsn, 'lag', extract(epoch FROM r.replay_lag)) AS of
            FROM pg_stat_replication AS r
            LEFT JOIN @slots@ AS s ON s.active_pid = r.pid
            WHERE r.state IS DISTINCT FROM 'backup'
              -- A base backup has the log sent beside it, by another sender of the same name, and never applies it.
              AND (r.replay_lsn IS NOT NULL OR r.application_name IS DISTINCT FROM 'pg_basebackup'
                  AND NOT EXISTS (SELECT FROM pg_stat_replication AS b WHERE b.state = 'backup' AND b.application_name = r.application_name))
            ORDER BY r.replay_lsn NULLS LAST, r.pid
            LIMIT @most@
        ) AS p
    ),
    'peersOmitted', greatest((SELECT count(*) FROM pg_stat_replication) - @most@, 0),
    -- peers]
    -- [slots
    'slots', (
        SELECT jsonb_agg(p.of) FROM (
            SELECT jsonb_build_object(
                'name', s.slot_name, 'logical', s.slot_type = 'logical', 'database', s.database, 'plugin', s.plugin, 'active', s.active,
                'wal', s.wal_status, 'retained', here.lsn - s.restart_lsn, 'safe', s.safe_wal_size,
                'inactiveSince', extract(epoch FROM (to_jsonb(s) ->> 'inactive_since')::timestamptz),
                'invalid', to_jsonb(s) ->> 'invalidation_reason', 'synced', to_jsonb(s) -> 'synced') AS of
            FROM pg_replication_slots AS s
            WHERE NOT s.temporary
            ORDER BY here.lsn - s.restart_lsn DESC NULLS FIRST, s.slot_name
            LIMIT @most@
        ) AS p
    ),
    'slotsOmitted', greatest((SELECT count(*) FROM pg_replication_slots WHERE NOT temporary) - @most@, 0),
    -- slots]
    -- [subscriptions
    'subscriptions', (
        SELECT jsonb_agg(p.of) FROM (
            SELECT jsonb_build_object(
                'name', s.subname, 'database', d.datname, 'enabled', s.subenabled, 'slot', s.subslotname,
                'running', @running@, 'behind', max(w.received_lsn - w.latest_end_lsn)) AS of
            FROM pg_subscription AS s
            JOIN pg_database AS d ON d.oid = s.subdbid
            LEFT JOIN pg_stat_subscription AS w ON @worker@ AND w.relid IS NULL
            GROUP BY s.subname, d.datname, s.subenabled, s.subslotname
            ORDER BY s.subname, d.datname
            LIMIT @most@
        ) AS p
    ),
    -- subscriptions]
    'standby', here.standby, 'port', current_setting('port')::int,
    'now', extract(epoch FROM clock_timestamp()), 'lsn', here.lsn - '0/0'::pg_lsn, 'replayed', here.replayed - '0/0'::pg_lsn,
    'timeline', here.timeline, 'paused', here.paused, 'pauseState', here.pause_state, 'replayedAt', extract(epoch FROM here.replayed_at),
    'configured', CASE WHEN here.standby THEN (SELECT setting <> '' FROM pg_settings WHERE name = 'primary_conninfo') END
)
FROM here
