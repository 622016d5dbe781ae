-- Every column of every table that is somebody's, as one JSON object a table.
-- Partitions are left out: their parent stands for them. Views hold nothing. Of a table that
-- somebody has locked the size is not asked: it would wait for the lock, and all others with it.
with locked as materialized (
    select distinct relation from pg_locks
    where relation is not null and mode = 'AccessExclusiveLock' and database = (select oid from pg_database where datname = current_database()))
select json_build_object(
    'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
    'rows', leaf.rows::bigint,
    'bytes', leaf.bytes,
    'locked', leaf.locked,
    -- A grant to PUBLIC opens nothing in a schema that PUBLIC may not use.
    'public', has_schema_privilege('public', n.oid, 'USAGE') and (
        exists (select 1 from aclexplode(c.relacl) a where a.grantee = 0)
        or exists (select 1 from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c.oid and a.grantee = 0)),
    'grantees', (select count(distinct a.grantee) from aclexplode(c.relacl) a where a.grantee not in (0, c.relowner)),
    'rowSecurity', c.relrowsecurity,
    -- grantee '' is PUBLIC; without an ACL the owner has all.
    'access', json_build_object(
        'owner', pg_get_userbyid(c.relowner), 'forced', c.relforcerowsecurity,
        'select', (select coalesce(json_agg(distinct case when a.grantee = 0 then '' else pg_get_userbyid(a.grantee) end), '[]')
            from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a where a.privilege_type = 'SELECT'),
        'columns', (select coalesce(json_agg(json_build_object('role', case when a.grantee = 0 then '' else pg_get_userbyid(a.grantee) end, 'column', t.attname)), '[]')
            from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c.oid and not t.attisdropped and a.privilege_type = 'SELECT'),
        'usage', (select coalesce(json_agg(distinct case when a.grantee = 0 then '' else pg_get_userbyid(a.grantee) end), '[]')
            from aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a where a.privilege_type = 'USAGE')),
    'readable', has_schema_privilege(n.oid, 'USAGE') and has_any_column_privilege(c.oid, 'SELECT'),
    'foreign', c.relkind = 'f' or exists (
        select 1 from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid and p.relkind = 'f'),
    -- type: the base type's name where it is one of PostgreSQL's own: the casts
    -- and output functions of others are somebody's code, which we do not run.
    'columns', (select coalesce(json_agg(json_build_object(
            'name', a.attname, 'dataType', format_type(a.atttypid, a.atttypmod),
            'type', case when bn.nspname = 'pg_catalog' then bt.typname::text else '' end,
            'readable', has_column_privilege(c.oid, a.attnum, 'SELECT'),
            'virtual', coalesce(to_jsonb(a) ->> 'attgenerated', '') = 'v') order by a.attnum), '[]')
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        join pg_type bt on bt.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
        join pg_namespace bn on bn.oid = bt.typnamespace
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
from pg_class c join pg_namespace n on n.oid = c.relnamespace
-- A table is its own leaf, a partitioned one those of all its levels. A leaf that was
-- never analysed has -1 rows, before 14 it has 0 on no page; one without a file block
-- has none all the same. One leaf without a number leaves the table without: null.
cross join lateral (
    with recursive part(oid) as (
        select c.oid
        union all
        select i.inhrelid from part join pg_inherits i on i.inhparent = part.oid join pg_class t on t.oid = part.oid where t.relkind = 'p')
    select case when bool_and(l.rows is not null) then coalesce(sum(l.rows), 0) end as rows, coalesce(sum(l.bytes), 0) as bytes, coalesce(bool_or(l.locked), false) as locked
    from (
        select held.locked,
               case when not held.locked and p.relkind <> 'f' and pg_relation_size(p.oid) = 0 then 0
                    when p.reltuples < 0 or p.reltuples = 0 and p.relpages = 0 then null
                    else p.reltuples end as rows,
               case when held.locked or p.relkind = 'f' then 0 else pg_total_relation_size(p.oid) end as bytes
        from part join pg_class p on p.oid = part.oid
        cross join lateral (select p.oid in (select relation from locked) or p.reltoastrelid in (select relation from locked)
            or exists (select 1 from pg_index x where x.indrelid = p.oid and x.indexrelid in (select relation from locked))) held(locked)
        where p.relkind <> 'p') l) leaf
where c.relkind in ('r', 'p', 'm', 'f') and not c.relispartition and c.relpersistence <> 't'
  and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
order by n.nspname collate "C", c.relname collate "C"
