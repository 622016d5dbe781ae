-- Oracle 12.2+: the databases, which are the containers that our account sees: from the
-- root all of those that CONTAINER_DATA names, from a pluggable database itself, and where
-- there are no containers the one database. An instance has each open or not.
-- Database Reference: V$CONTAINERS.
SELECT con_id, name, open_mode
FROM v$containers
