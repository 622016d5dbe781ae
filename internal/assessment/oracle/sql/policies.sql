-- Oracle 12.2+: the audit policies that are in force
-- AUDIT_UNIFIED_ENABLED_POLICIES.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/AUDIT_UNIFIED_ENABLED_POLICIES.html
select e.policy_name, e.enabled_option, e.entity_name, e.success, e.failure
from audit_unified_enabled_policies e
