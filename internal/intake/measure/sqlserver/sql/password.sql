-- SQL Server 2016+ and Azure SQL: in how many days the password of our login expires; NULL where it does not.
-- Everybody may ask about themselves. It is 0 on the last day, and -1 where the policy of Windows lets it live forever.
--
-- LOGINPROPERTY (DaysUntilExpiration): t-sql/functions/loginproperty-transact-sql
SELECT CONVERT(int, LOGINPROPERTY(ORIGINAL_LOGIN(), 'DaysUntilExpiration'))
