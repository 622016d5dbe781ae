-- Oracle 12.2+: the release, which everybody may read. From 18 on it ends in zeros, and
-- V$INSTANCE has the whole.
-- Database Reference: PRODUCT_COMPONENT_VERSION.
SELECT MAX(version)
FROM product_component_version
WHERE product LIKE 'Oracle%'
