-- Oracle 12.2+, in a cluster: the instances on which the container that we are in is open.
-- Database Reference: V$CONTAINERS; SQL Language Reference: SYS_CONTEXT, namespace USERENV.
SELECT inst_id
FROM gv$containers
WHERE con_id = TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_ID')) AND open_mode <> 'MOUNTED'
