-- PostgreSQL 13 and newer. What the server tells: does a session say the id of its statement (14), does
-- a database count the sessions that were begun in it (14), and does the checkpointer count apart from
-- the background writer (17)?
SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'pg_stat_activity'::regclass AND attname = 'query_id' AND NOT attisdropped),
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'pg_stat_database'::regclass AND attname = 'sessions' AND NOT attisdropped),
       to_regclass('pg_catalog.pg_stat_checkpointer') IS NOT NULL
