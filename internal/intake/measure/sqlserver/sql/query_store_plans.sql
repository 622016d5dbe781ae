-- SQL Server 2016+ and Azure SQL: of which queries the plans in the query store of a database are.
--
-- Plans are numbered as they come: those up to the last that is known are known.
--
-- sys.query_store_plan: relational-databases/system-catalog-views/sys-query-store-plan-transact-sql
SELECT p.plan_id, p.query_id
FROM {database}.sys.query_store_plan AS p
WHERE p.plan_id > @after
