-- PostgreSQL 13 and newer. Where pg_stat_statements is in this database, what its view
-- of statements has for columns, whether it has a row about itself (from 1.9 on), and
-- whether we may read them. The functions are the extension's own, whatever else bears
-- their names. And whether the server counts how long it executes (14).
SELECT quote_ident(n.nspname),
       max(array_to_string(p.proargnames, ',')) FILTER (WHERE p.proname = 'pg_stat_statements'),
       bool_or(p.proname = 'pg_stat_statements_info'),
       bool_and(has_function_privilege(p.oid, 'EXECUTE')),
       has_schema_privilege(n.oid, 'USAGE'), quote_ident(current_user),
       EXISTS (SELECT FROM pg_attribute
               WHERE attrelid = 'pg_stat_database'::regclass AND attname = 'active_time' AND NOT attisdropped)
FROM pg_extension e
JOIN pg_namespace n ON n.oid = e.extnamespace
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_proc p ON p.oid = d.objid
WHERE e.extname = 'pg_stat_statements' AND p.proname IN ('pg_stat_statements', 'pg_stat_statements_info')
GROUP BY n.oid, n.nspname
