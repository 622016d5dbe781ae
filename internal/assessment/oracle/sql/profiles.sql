-- Oracle 12.2+: the limits of profiles
-- DBA_PROFILES.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_PROFILES.html
select p.profile, p.resource_name, p.limit
from dba_profiles p
