-- PostgreSQL 13 and newer. The names of some roles, which everybody may read.
SELECT oid, rolname FROM pg_roles WHERE oid = ANY ('{@roles@}'::oid[])
