-- PostgreSQL 13 and newer. The number of our role, where it is one for watching: it reads
-- what all do, and is no superuser. Else 0: an application may use it, too.
SELECT coalesce((SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user AND NOT r.rolsuper
                 AND pg_has_role(r.oid, 'pg_read_all_stats', 'MEMBER')), 0)
