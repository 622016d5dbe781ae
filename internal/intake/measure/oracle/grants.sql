-- What Muster's account needs to measure an Oracle database from 12.2 on, and no more: it may
-- sign in and read these views. Nothing here belongs to the Diagnostics or the Tuning Pack.
-- Run it as an administrator, where the account is: one of the two parts, and the third in a cluster.
-- On Amazon RDS each grant is a call of rdsadmin.rdsadmin_util.grant_sys_object instead.

-- 1. One pluggable database, or a database without containers.
CREATE PROFILE muster LIMIT SESSIONS_PER_USER 10; -- its own, and the limits of DEFAULT beside
CREATE USER muster IDENTIFIED BY "<password>" PROFILE muster;
GRANT CREATE SESSION TO muster;
GRANT SELECT ON SYS.V_$INSTANCE TO muster;            -- when it was started; is it one of a cluster
GRANT SELECT ON SYS.V_$CONTAINERS TO muster;          -- the databases, and whether they are open
GRANT SELECT ON SYS.V_$SESSION TO muster;             -- connections, waits, locks
GRANT SELECT ON SYS.V_$SQLSTATS_PLAN_HASH TO muster;  -- statements
GRANT SELECT ON SYS.V_$SQL TO muster;                 -- which statements are new
GRANT SELECT ON SYS.V_$CON_SYS_TIME_MODEL TO muster;  -- how much of the time the statements explain
GRANT SELECT ON SYS.V_$TRANSACTION TO muster;         -- the oldest transaction, beside who holds it
GRANT SELECT ON SYS.V_$SYSSTAT TO muster;             -- new connections, temporary files, checkpoints
GRANT SELECT ON SYS.V_$SORT_SEGMENT TO muster;        -- temporary space
GRANT SELECT ON SYS.V_$PARAMETER TO muster;           -- the size of a block
GRANT SELECT ON SYS.V_$CON_SYSSTAT TO muster;         -- deadlocks
GRANT SELECT ON SYS.V_$DATABASE TO muster;            -- its role in Data Guard
GRANT SELECT ON SYS.V_$DATAGUARD_STATS TO muster;     -- how far a standby lags
GRANT SELECT ON SYS.V_$ARCHIVE_DEST_STATUS TO muster; -- to which standbys redo is sent
GRANT SELECT ON SYS.V_$RMAN_BACKUP_JOB_DETAILS TO muster; -- backups, of a database without containers
GRANT SELECT ON SYS.DBA_SCHEDULER_JOB_RUN_DETAILS TO muster; -- jobs that failed
GRANT SELECT ON SYS.CDB_TABLESPACE_USAGE_METRICS TO muster; -- how full tablespaces are
GRANT SELECT ON SYS.CDB_TABLESPACES TO muster;
GRANT SELECT ON SYS.V_$DATAFILE TO muster; -- the sizes of databases
GRANT SELECT ON SYS.V_$RECOVERY_FILE_DEST TO muster; -- the fast recovery area
GRANT SELECT ON SYS.V_$ASM_DISKGROUP_STAT TO muster; -- disk groups of ASM
GRANT SELECT ON SYS.CDB_SEQUENCES TO muster; -- sequences near their end
GRANT SELECT ON SYS.CDB_TAB_IDENTITY_COLS TO muster; -- identity columns
GRANT SELECT ON SYS.CDB_TAB_COLUMNS TO muster; -- and their types
GRANT SELECT ON SYS.CDB_TABLES TO muster; -- the greatest tables, and when they were analyzed
GRANT SELECT ON SYS.CDB_TAB_MODIFICATIONS TO muster; -- what changed since

-- 2. A container database with all of its pluggable databases, from its root. The prefix of
-- common users (COMMON_USER_PREFIX) is C## where nobody changed it.
ALTER SESSION SET CONTAINER = CDB$ROOT;
CREATE PROFILE c##muster LIMIT SESSIONS_PER_USER 10 CONTAINER = ALL;
CREATE USER c##muster IDENTIFIED BY "<password>" PROFILE c##muster CONTAINER = ALL;
GRANT CREATE SESSION TO c##muster CONTAINER = CURRENT;
ALTER USER c##muster SET CONTAINER_DATA = ALL CONTAINER = CURRENT; -- or (CDB$ROOT, ORDERS, ERP)
GRANT SELECT ON SYS.V_$INSTANCE TO c##muster;
GRANT SELECT ON SYS.V_$CONTAINERS TO c##muster;
GRANT SELECT ON SYS.V_$SESSION TO c##muster;
GRANT SELECT ON SYS.V_$SQLSTATS_PLAN_HASH TO c##muster;
GRANT SELECT ON SYS.V_$SQL TO c##muster;
GRANT SELECT ON SYS.V_$CON_SYS_TIME_MODEL TO c##muster;
GRANT SELECT ON SYS.V_$TRANSACTION TO c##muster;
GRANT SELECT ON SYS.V_$SYSSTAT TO c##muster;
GRANT SELECT ON SYS.V_$SORT_SEGMENT TO c##muster;
GRANT SELECT ON SYS.V_$PARAMETER TO c##muster;
GRANT SELECT ON SYS.V_$CON_SYSSTAT TO c##muster;
GRANT SELECT ON SYS.V_$DATABASE TO c##muster;
GRANT SELECT ON SYS.V_$DATAGUARD_STATS TO c##muster;
GRANT SELECT ON SYS.V_$ARCHIVE_DEST_STATUS TO c##muster;
GRANT SELECT ON SYS.V_$RMAN_BACKUP_JOB_DETAILS TO c##muster;
GRANT SELECT ON SYS.DBA_SCHEDULER_JOB_RUN_DETAILS TO c##muster;
GRANT SELECT ON SYS.CDB_TABLESPACE_USAGE_METRICS TO c##muster;
GRANT SELECT ON SYS.CDB_TABLESPACES TO c##muster;
GRANT SELECT ON SYS.V_$DATAFILE TO c##muster;
GRANT SELECT ON SYS.V_$RECOVERY_FILE_DEST TO c##muster;
GRANT SELECT ON SYS.V_$ASM_DISKGROUP_STAT TO c##muster;
GRANT SELECT ON SYS.CDB_SEQUENCES TO c##muster;
GRANT SELECT ON SYS.CDB_TAB_IDENTITY_COLS TO c##muster;
GRANT SELECT ON SYS.CDB_TAB_COLUMNS TO c##muster;
GRANT SELECT ON SYS.CDB_TABLES TO c##muster;
GRANT SELECT ON SYS.CDB_TAB_MODIFICATIONS TO c##muster;

-- 3. In a cluster (RAC) beside, for the account of 1 or 2.
GRANT SELECT ON SYS.V_$ACTIVE_INSTANCES TO muster;     -- how many have to answer
GRANT SELECT ON SYS.GV_$INSTANCE TO muster;
GRANT SELECT ON SYS.GV_$CONTAINERS TO muster;
GRANT SELECT ON SYS.GV_$SESSION TO muster;
GRANT SELECT ON SYS.GV_$SQLSTATS_PLAN_HASH TO muster;
GRANT SELECT ON SYS.GV_$SQL TO muster;
GRANT SELECT ON SYS.GV_$CON_SYS_TIME_MODEL TO muster;
GRANT SELECT ON SYS.GV_$TRANSACTION TO muster;
GRANT SELECT ON SYS.GV_$SYSSTAT TO muster;
GRANT SELECT ON SYS.GV_$SORT_SEGMENT TO muster;
GRANT SELECT ON SYS.GV_$CON_SYSSTAT TO muster;
