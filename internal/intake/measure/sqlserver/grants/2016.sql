-- What Muster needs to measure SQL Server 2016, 2017 and 2019. Run it in master, as a
-- member of sysadmin, with a password of your own.
-- For an account of Windows, write FROM WINDOWS instead of WITH PASSWORD.
CREATE LOGIN [muster] WITH PASSWORD = N'<password>';
-- Sessions and waits, and the counters and texts of statements in the plan cache.
GRANT VIEW SERVER STATE TO [muster];
-- The query stores of all databases, also of those to come. It lets the login into them,
-- and gives it no object of theirs.
GRANT CONNECT ANY DATABASE TO [muster];
