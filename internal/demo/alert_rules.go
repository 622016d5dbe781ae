package demo

import (
	"time"

	"muster/domain/alert"
	"muster/domain/fleet"
)

// hours is when a rule raises its alerts. Times are UTC.
type hours int

const (
	anytime hours = iota
	office        // people at work, Monday to Friday
	night         // backups and batches
	lasting       // any time, for most of a day and longer
)

// rule is one of the rules that watch a demo server: what an alert of it looks
// like and how often there is one.
type rule struct {
	id       string
	title    string
	severity alert.Severity
	hours    hours
	perMonth float64 // alerts of one subject in 30 days
	shortest time.Duration
	longest  time.Duration
	database bool // the subject is a database and not the server
}

// rules are a dozen an engine, as a monitoring system would have them.
var rules = map[fleet.Engine][]rule{
	fleet.PostgreSQL: {
		{"replication-lag", "Replication lag above 60 seconds", alert.Warning, anytime, 5, 4 * time.Minute, 50 * time.Minute, false},
		{"wal-archiving", "WAL archiving has failed for 10 minutes", alert.Critical, anytime, 0.7, 8 * time.Minute, 80 * time.Minute, false},
		{"connections", "Connections above 85 % of max_connections", alert.Warning, office, 3, 6 * time.Minute, 70 * time.Minute, false},
		{"checkpoints", "Checkpoints are requested and not timed", alert.Info, night, 4, 15 * time.Minute, 100 * time.Minute, false},
		{"base-backup", "Base backup is not complete by 04:00", alert.Critical, night, 1, 30 * time.Minute, 4 * time.Hour, false},
		{"data-volume", "Volume of the data directory above 90 %", alert.Warning, lasting, 1, 9 * time.Hour, 40 * time.Hour, false},
		{"lock-wait", "A session has waited for a lock for 5 minutes", alert.Warning, office, 3, 5 * time.Minute, 30 * time.Minute, true},
		{"long-transaction", "A transaction has been open for 30 minutes", alert.Warning, office, 1.8, 10 * time.Minute, 3 * time.Hour, true},
		{"idle-in-transaction", "Idle in transaction for 10 minutes", alert.Info, office, 2.4, 5 * time.Minute, 50 * time.Minute, true},
		{"temporary-files", "10 GB of temporary files within an hour", alert.Info, night, 2, 20 * time.Minute, 2 * time.Hour, true},
		{"dead-rows", "Dead rows above 20 % in the largest table", alert.Info, lasting, 0.9, 8 * time.Hour, 44 * time.Hour, true},
		{"transaction-ids", "Transaction-id age above 60 % of the wraparound limit", alert.Warning, lasting, 0.5, 10 * time.Hour, 36 * time.Hour, true},
	},
	fleet.SQLServer: {
		{"replica-state", "Availability replica is not synchronizing", alert.Critical, anytime, 1.2, 3 * time.Minute, 40 * time.Minute, false},
		{"page-life", "Page life expectancy below 300 seconds", alert.Warning, office, 3.2, 10 * time.Minute, 90 * time.Minute, false},
		{"worker-threads", "Worker threads above 90 %", alert.Critical, office, 0.8, 4 * time.Minute, 25 * time.Minute, false},
		{"tempdb", "tempdb fills its volume above 80 %", alert.Warning, night, 3.5, 20 * time.Minute, 3 * time.Hour, false},
		{"agent-job", "Agent job IndexOptimize has failed", alert.Warning, night, 1.6, 30 * time.Minute, 5 * time.Hour, false},
		{"volume", "Volume E: above 90 %", alert.Warning, lasting, 1.2, 8 * time.Hour, 40 * time.Hour, false},
		{"blocking", "Blocking chain of more than 5 minutes", alert.Warning, office, 3.4, 5 * time.Minute, 35 * time.Minute, true},
		{"deadlocks", "More than 5 deadlocks a minute", alert.Warning, office, 2, 3 * time.Minute, 20 * time.Minute, true},
		{"log-space", "Transaction log above 80 %", alert.Warning, night, 3, 15 * time.Minute, 2 * time.Hour, true},
		{"log-backup", "No log backup for 60 minutes", alert.Warning, anytime, 4, 10 * time.Minute, 2 * time.Hour, true},
		{"full-backup", "No full backup for 24 hours", alert.Critical, night, 0.9, time.Hour, 5 * time.Hour, true},
		{"integrity-check", "DBCC CHECKDB has not run for 7 days", alert.Info, lasting, 1, 12 * time.Hour, 45 * time.Hour, true},
	},
	fleet.Oracle: {
		{"apply-lag", "Data Guard apply lag above 10 minutes", alert.Warning, anytime, 5, 10 * time.Minute, 90 * time.Minute, false},
		{"listener", "The listener refuses connections (ORA-12516)", alert.Critical, office, 1, 2 * time.Minute, 15 * time.Minute, false},
		{"processes", "Sessions above 90 % of processes", alert.Warning, office, 3, 5 * time.Minute, 50 * time.Minute, false},
		{"recovery-area", "Fast recovery area above 85 %", alert.Critical, night, 2, 30 * time.Minute, 4 * time.Hour, false},
		{"backup", "RMAN backup has failed", alert.Critical, night, 1.2, time.Hour, 5 * time.Hour, false},
		{"disk-group", "ASM disk group DATA above 85 %", alert.Warning, lasting, 1, 10 * time.Hour, 40 * time.Hour, false},
		{"library-cache", "Library cache hit ratio below 90 %", alert.Info, office, 2.6, 10 * time.Minute, 70 * time.Minute, false},
		{"tablespace", "Tablespace USERS above 90 %", alert.Warning, lasting, 1.2, 9 * time.Hour, 44 * time.Hour, true},
		{"blocking", "A session blocks others for 5 minutes", alert.Warning, office, 4, 5 * time.Minute, 40 * time.Minute, true},
		{"temporary", "Temporary tablespace above 90 %", alert.Warning, night, 3, 15 * time.Minute, 2 * time.Hour, true},
		{"undo", "Snapshot too old (ORA-01555) in a batch", alert.Warning, night, 2, 5 * time.Minute, time.Hour, true},
		{"statistics", "Optimizer statistics are older than 14 days", alert.Info, lasting, 0.8, 12 * time.Hour, 45 * time.Hour, true},
	},
	fleet.MongoDB: {
		{"member", "A replica set member does not answer", alert.Critical, anytime, 1.2, 2 * time.Minute, 30 * time.Minute, false},
		{"election", "A new primary was elected", alert.Info, anytime, 1.4, 2 * time.Minute, 6 * time.Minute, false},
		{"replication-lag", "Replication lag above 30 seconds", alert.Warning, anytime, 6, 4 * time.Minute, 45 * time.Minute, false},
		{"oplog-window", "Oplog window below 24 hours", alert.Warning, lasting, 1.2, 8 * time.Hour, 36 * time.Hour, false},
		{"cache", "WiredTiger cache above 95 %", alert.Warning, office, 3, 5 * time.Minute, 60 * time.Minute, false},
		{"tickets", "No read tickets are left", alert.Critical, office, 0.8, 2 * time.Minute, 12 * time.Minute, false},
		{"connections", "Connections above 80 % of the limit", alert.Warning, office, 2, 6 * time.Minute, 50 * time.Minute, false},
		{"backup", "The nightly snapshot has failed", alert.Critical, night, 1, time.Hour, 5 * time.Hour, false},
		{"volume", "Volume of the data files above 90 %", alert.Warning, lasting, 0.9, 8 * time.Hour, 30 * time.Hour, false},
		{"collection-scans", "Collection scans above 100 a second", alert.Info, office, 3, 10 * time.Minute, 90 * time.Minute, true},
		{"slow-operations", "Operations slower than a second above 20 a minute", alert.Warning, office, 3, 5 * time.Minute, 45 * time.Minute, true},
		{"index-build", "An index has been building for an hour", alert.Info, night, 1.4, 20 * time.Minute, 3 * time.Hour, true},
	},
	fleet.MySQL: {
		{"replica-threads", "A replication thread has stopped", alert.Critical, anytime, 2, 3 * time.Minute, 40 * time.Minute, false},
		{"replication-lag", "The replica is more than 60 seconds behind", alert.Warning, anytime, 6, 4 * time.Minute, 50 * time.Minute, false},
		{"connections", "Connections above 80 % of max_connections", alert.Warning, office, 7, 5 * time.Minute, 50 * time.Minute, false},
		{"buffer-pool", "Buffer pool hit ratio below 98 %", alert.Info, office, 6, 10 * time.Minute, 80 * time.Minute, false},
		{"temporary-tables", "Temporary tables on disk above 25 %", alert.Info, office, 5, 10 * time.Minute, 90 * time.Minute, false},
		{"binary-logs", "Binary logs fill their volume above 85 %", alert.Warning, lasting, 2, 8 * time.Hour, 30 * time.Hour, false},
		{"backup", "The nightly dump has failed", alert.Critical, night, 3, time.Hour, 4 * time.Hour, false},
		{"aborted-clients", "Aborted clients above 10 a minute", alert.Info, anytime, 5, 5 * time.Minute, 40 * time.Minute, false},
		{"row-lock-waits", "Row lock waits above 10 a second", alert.Warning, office, 6, 4 * time.Minute, 30 * time.Minute, true},
		{"deadlocks", "More than 5 deadlocks a minute", alert.Warning, office, 4, 3 * time.Minute, 15 * time.Minute, true},
		{"slow-queries", "Slow queries above 50 a minute", alert.Warning, office, 7, 5 * time.Minute, 60 * time.Minute, true},
		{"history-list", "History list longer than a million", alert.Warning, night, 4, 20 * time.Minute, 3 * time.Hour, true},
	},
}

// organizationRules watch what belongs to no server.
var organizationRules = []rule{
	{"backup-vault", "Backup vault above 85 % of its quota", alert.Warning, lasting, 1.6, 10 * time.Hour, 40 * time.Hour, false},
	{"jump-host", "The jump host does not answer", alert.Critical, anytime, 1.2, 3 * time.Minute, 25 * time.Minute, false},
	{"license-server", "License server answers slowly", alert.Info, office, 2.4, 10 * time.Minute, 80 * time.Minute, false},
}
