-- What Muster needs to measure a database of Azure SQL Database. Run it in that database, as
-- the server's administrator, with a password of your own; the connection string names the
-- database (?database=…).
-- For an application of Microsoft Entra ID, write FROM EXTERNAL PROVIDER instead of WITH PASSWORD.
CREATE USER [muster] WITH PASSWORD = N'<password>';
-- Sessions and waits, the query store, and the counters and texts of statements.
GRANT VIEW DATABASE STATE TO [muster];
-- In the service objectives Basic, S0 and S1 and in elastic pools that is not enough for the
-- counters in the plan cache, which are read where the query store is off. There, instead
-- of the user, create a login in master, and run in master:
--   ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER [muster];
