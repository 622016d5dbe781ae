-- Oracle 12.2+: how large the data files of each container are, by the control file.
-- Database Reference: V$DATAFILE.
SELECT f.con_id, SUM(f.bytes)
FROM v$datafile f
GROUP BY f.con_id
