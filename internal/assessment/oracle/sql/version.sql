-- Oracle 12.2+: the release of an assessed server, which everybody may read
-- PRODUCT_COMPONENT_VERSION. From 18 on it ends in zeros, and version_18.sql has the whole.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/PRODUCT_COMPONENT_VERSION.html
select max(p.version), max(p.product)
from product_component_version p
where p.product like 'Oracle%'
