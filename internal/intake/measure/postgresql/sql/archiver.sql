-- PostgreSQL 13 and newer: what the archiver does, as one document. Of archive_command nothing leaves the server but whether it
-- is empty, or throws WAL away.
SELECT jsonb_build_object(
    'standby', r.standby, 'now', extract(epoch FROM clock_timestamp()), 'mode', current_setting('archive_mode'),
    'empty', btrim(c.command) = '' AND c.library = '', 'library', c.library <> '',
    'discards', c.library = '' AND btrim(c.command) IN ('true', '/bin/true', '/usr/bin/true', ':', 'exit 0', 'cd .'),
    'archived', a.archived_count, 'file', a.last_archived_wal, 'at', extract(epoch FROM a.last_archived_time),
    'failedFile', a.last_failed_wal, 'failedAt', extract(epoch FROM a.last_failed_time), 'reset', extract(epoch FROM a.stats_reset),
    'writes', CASE WHEN NOT r.standby THEN pg_walfile_name(pg_current_wal_insert_lsn()) END, 'segment', pg_size_bytes(current_setting('wal_segment_size')))
FROM pg_stat_archiver AS a, (SELECT pg_is_in_recovery() AS standby) AS r,
    (SELECT current_setting('archive_command') AS command, coalesce(current_setting('archive_library', true), '') AS library) AS c
