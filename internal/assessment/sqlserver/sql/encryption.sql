-- SQL Server 2016+: how far the encryption of each database is
-- sys.dm_database_encryption_keys. VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE.
-- https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-database-encryption-keys-transact-sql
select db_name(k.database_id), k.encryption_state
from sys.dm_database_encryption_keys k
