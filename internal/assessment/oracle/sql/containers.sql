-- Oracle 12.2+: the containers of an assessed server but the seed: itself, and from the root those of CONTAINER_DATA
-- V$CONTAINERS.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/V-CONTAINERS.html
select c.con_id, c.name, c.open_mode, c.total_size
from v$containers c
where c.con_id <> 2
