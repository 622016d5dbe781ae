-- PostgreSQL 13 and newer. Does a lock say since when it is waited for (14)?
SELECT EXISTS (SELECT FROM pg_attribute
               WHERE attrelid = 'pg_locks'::regclass AND attname = 'waitstart' AND NOT attisdropped)
