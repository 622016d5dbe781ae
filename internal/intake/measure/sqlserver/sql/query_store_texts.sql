-- SQL Server 2016+ and Azure SQL: the texts of some statements of the query store of a database.
--
-- What is cut here is far beyond what is kept of a text.
--
-- sys.query_store_query: relational-databases/system-catalog-views/sys-query-store-query-transact-sql
-- sys.query_store_query_text: relational-databases/system-catalog-views/sys-query-store-query-text-transact-sql
SELECT CONVERT(char(16), n.query_hash, 2), n.query_sql_text
FROM (
    SELECT q.query_hash, LEFT(t.query_sql_text, 32768) AS query_sql_text,
           ROW_NUMBER() OVER (PARTITION BY q.query_hash ORDER BY q.query_id) AS place
    FROM {database}.sys.query_store_query AS q
    JOIN {database}.sys.query_store_query_text AS t ON t.query_text_id = q.query_text_id
    WHERE q.query_hash IN (@list)
) AS n
WHERE n.place = 1
