-- How many client connections the server, the database and the role allow (the
-- least of the three), how many are kept back, and how many are open.
SELECT least(current_setting('max_connections')::int,
             (SELECT CASE WHEN datconnlimit < 0 THEN 2147483647 ELSE datconnlimit END
              FROM pg_database WHERE datname = current_database()),
             (SELECT CASE WHEN rolconnlimit < 0 THEN 2147483647 ELSE rolconnlimit END
              FROM pg_roles WHERE rolname = current_user)),
       current_setting('superuser_reserved_connections')::int
           + coalesce(current_setting('reserved_connections', true)::int, 0),
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int
