-- Oracle 18+: the release of an assessed server with its Release Update, which everybody may read
-- PRODUCT_COMPONENT_VERSION.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/PRODUCT_COMPONENT_VERSION.html
select max(p.version_full), max(p.product)
from product_component_version p
where p.product like 'Oracle%'
