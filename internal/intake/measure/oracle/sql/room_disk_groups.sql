-- Oracle 12.2+: the disk groups of ASM that the database uses, in MB, with their redundancy. This view looks for no new
-- disks, as V$ASM_DISKGROUP would. There is no row without ASM, and none from a pluggable database.
-- Database Reference: V$ASM_DISKGROUP_STAT.
SELECT g.name, g.type, g.total_mb, g.free_mb, g.required_mirror_free_mb, g.usable_file_mb
FROM v$asm_diskgroup_stat g
WHERE g.total_mb > 0
