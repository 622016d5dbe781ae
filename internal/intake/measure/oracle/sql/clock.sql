-- Oracle 12.2+: the server's clock, in microseconds since 1970, and by how many minutes its
-- local time is ahead of that. SYSTIMESTAMP is the operating system's; times without a zone,
-- as V$SQL has them, are in the local time that goes with it.
-- SQL Language Reference: SYSTIMESTAMP, SYS_EXTRACT_UTC, EXTRACT (datetime).
SELECT EXTRACT(DAY FROM t.since) * 86400000000 + EXTRACT(HOUR FROM t.since) * 3600000000
           + EXTRACT(MINUTE FROM t.since) * 60000000 + ROUND(EXTRACT(SECOND FROM t.since) * 1000000),
       t.ahead
FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since,
             EXTRACT(TIMEZONE_HOUR FROM SYSTIMESTAMP) * 60 + EXTRACT(TIMEZONE_MINUTE FROM SYSTIMESTAMP) AS ahead
      FROM dual) t
