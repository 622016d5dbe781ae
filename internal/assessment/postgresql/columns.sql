-- Every column of every table that is somebody's, as one JSON object a table.
-- Partitions are left out: their parent stands for them. Views hold nothing.
select json_build_object(
    'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
    'rows', greatest(0, case when c.relkind = 'p'
        then (select sum(greatest(p.reltuples, 0)) from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid)
        else c.reltuples end)::bigint,
    'bytes', case when c.relkind = 'p'
        then coalesce((select sum(pg_total_relation_size(i.inhrelid)) from pg_inherits i where i.inhparent = c.oid), 0)
        when c.relkind = 'f' then 0 else coalesce(pg_total_relation_size(c.oid), 0) end,
    'public', exists (select 1 from aclexplode(c.relacl) a where a.grantee = 0)
        or exists (select 1 from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c.oid and a.grantee = 0),
    'grantees', (select count(distinct a.grantee) from aclexplode(c.relacl) a where a.grantee not in (0, c.relowner)),
    'rowSecurity', c.relrowsecurity,
    'readable', has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT'),
    'foreign', c.relkind = 'f' or exists (
        select 1 from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid and p.relkind = 'f'),
    -- type: the base type's name where it is one of PostgreSQL's own: the casts
    -- and output functions of others are somebody's code, which we do not run.
    'columns', (select coalesce(json_agg(json_build_object(
            'name', a.attname, 'dataType', format_type(a.atttypid, a.atttypmod),
            'type', case when bn.nspname = 'pg_catalog' then bt.typname::text else '' end,
            'virtual', coalesce(to_jsonb(a) ->> 'attgenerated', '') = 'v') order by a.attnum), '[]')
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        join pg_type bt on bt.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
        join pg_namespace bn on bn.oid = bt.typnamespace
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'm', 'f') and not c.relispartition and c.relpersistence <> 't'
  and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
order by n.nspname collate "C", c.relname collate "C"
