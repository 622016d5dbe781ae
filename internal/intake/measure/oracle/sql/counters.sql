-- Oracle 12.2+: counters since the instance was started: sessions that were begun, blocks
-- that were written to temporary tablespaces, and blocks that checkpoints wrote.
-- Database Reference: V$SYSSTAT; Statistics Descriptions.
SELECT name, SUM(value)
FROM v$sysstat
WHERE name IN ('logons cumulative', 'physical writes direct temporary tablespace', 'DBWR checkpoint buffers written')
GROUP BY name
