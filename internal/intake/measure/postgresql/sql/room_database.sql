-- PostgreSQL 13 and newer: the greatest tables of a database, others with the most dead rows, and sequences
-- near their end, as one document. Of at most @objects@ tables and sequences; temporary ones of others apart.
--
-- A sequence ends where its own type or a column that takes its values ends, whichever is first. One that may
-- not be read, or begins anew, is not listed; the former are counted.
-- A table that somebody has locked against reading is left out, as its size could not be read; those are counted.
WITH locked AS MATERIALIZED (
    SELECT coalesce(i.indrelid, l.relation) AS oid
    FROM pg_locks l LEFT JOIN pg_index i ON i.indexrelid = l.relation
    WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
), tables AS MATERIALIZED (
    SELECT c.oid, n.nspname, c.relname, c.reloptions, pg_relation_size(c.oid) AS main, c.reltoastrelid,
           pg_stat_get_live_tuples(c.oid) AS live, pg_stat_get_dead_tuples(c.oid) AS dead, greatest(c.reltuples, 0) AS rows
    FROM (SELECT * FROM pg_class WHERE relkind IN ('r', 'm') AND relpersistence <> 't' LIMIT @objects@) c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.oid NOT IN (SELECT oid FROM locked)
), named AS (
    (SELECT oid FROM tables ORDER BY main DESC, oid LIMIT @tables@)
    UNION
    (SELECT oid FROM tables WHERE dead > 0 ORDER BY dead DESC, oid LIMIT @dead@)
), options AS (
    SELECT t.oid,
           coalesce((SELECT option_value FROM pg_options_to_table(t.reloptions) WHERE option_name = 'autovacuum_enabled'), 'true')::boolean AS enabled,
           coalesce((SELECT option_value FROM pg_options_to_table(t.reloptions) WHERE option_name = 'autovacuum_vacuum_threshold'), current_setting('autovacuum_vacuum_threshold'))::float8
           + coalesce((SELECT option_value FROM pg_options_to_table(t.reloptions) WHERE option_name = 'autovacuum_vacuum_scale_factor'), current_setting('autovacuum_vacuum_scale_factor'))::float8 * t.rows AS due
    FROM tables t JOIN named USING (oid)
), ends AS (
    SELECT d.objid AS oid, min(CASE a.atttypid WHEN 'smallint'::regtype THEN 32767 WHEN 'integer'::regtype THEN 2147483647 ELSE 9223372036854775807 END) AS most,
           min(d.refobjid::regclass::text || '.' || quote_ident(a.attname)) AS name
    FROM (SELECT objid, refobjid, refobjsubid FROM pg_depend
          WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i') AND refobjsubid > 0
          UNION
          SELECT d.refobjid, f.adrelid, f.adnum FROM pg_depend d JOIN pg_attrdef f ON f.oid = d.objid
          WHERE d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass) d
    JOIN pg_sequence s ON s.seqrelid = d.objid
    JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    GROUP BY d.objid
), sequences AS (
    SELECT n.nspname, c.relname, e.name AS holder, e.most, s.seqtypid, s.seqmax, pg_sequence_last_value(s.seqrelid) AS last
    FROM (SELECT * FROM pg_sequence WHERE seqincrement > 0 AND NOT seqcycle LIMIT @objects@) s
    JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN ends e ON e.oid = s.seqrelid
    WHERE c.relpersistence = 'p' AND has_sequence_privilege(s.seqrelid, 'SELECT,USAGE')
)
SELECT json_build_object(
    'cron', (SELECT CASE WHEN bool_and(has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AND NOT row_security_active(c.oid))
                         THEN 'open' ELSE 'shut' END
             FROM pg_extension e
             JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
             JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'r' AND c.relname IN ('job', 'job_run_details')
             JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'cron'
             WHERE e.extname = 'pg_cron' HAVING count(*) = 2),
    'more', EXISTS (SELECT FROM pg_class WHERE relkind IN ('r', 'm') AND relpersistence <> 't' OFFSET @objects@),
    'locked', (SELECT count(DISTINCT l.oid) FROM locked l JOIN pg_class c ON c.oid = l.oid WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
               AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)),
    'hidden', (SELECT count(*) FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
               WHERE c.relpersistence <> 't' AND NOT s.seqcycle AND NOT has_sequence_privilege(s.seqrelid, 'SELECT,USAGE')),
    'tables', coalesce((SELECT json_agg(t) FROM (
        SELECT quote_ident(t.nspname) || '.' || quote_ident(t.relname) AS name, pg_total_relation_size(t.oid) AS bytes, t.main, t.live, t.dead,
               pg_stat_get_mod_since_analyze(t.oid) AS changed,
               extract(epoch FROM pg_stat_get_last_vacuum_time(t.oid)) AS vacuumed, extract(epoch FROM pg_stat_get_last_autovacuum_time(t.oid)) AS autovacuumed,
               extract(epoch FROM pg_stat_get_last_analyze_time(t.oid)) AS analyzed, extract(epoch FROM pg_stat_get_last_autoanalyze_time(t.oid)) AS autoanalyzed,
               NOT o.enabled OR NOT current_setting('autovacuum')::boolean AS off, t.dead > o.due AS due
        FROM tables t JOIN options o USING (oid)) t), '[]'),
    'sequences', coalesce((SELECT json_agg(q) FROM (
        SELECT quote_ident(nspname) || '.' || quote_ident(relname) AS name, holder AS column,
               CASE WHEN coalesce(most, seqmax) < seqmax THEN CASE most WHEN 32767 THEN 'smallint' WHEN 2147483647 THEN 'integer' ELSE 'bigint' END
                    ELSE format_type(seqtypid, NULL) END AS type,
               last, least(seqmax, coalesce(most, seqmax)) AS max, 100.0 * last / least(seqmax, coalesce(most, seqmax)) AS used
        FROM sequences WHERE last > 0 AND least(seqmax, coalesce(most, seqmax)) > 0 ORDER BY used DESC LIMIT @sequences@) q), '[]'))
