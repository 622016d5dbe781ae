package demo

import (
	"time"

	"muster/domain/alert"
)

// incident is an alert that is part of one of the demo's stories.
type incident struct {
	server, database string
	rule, title      string
	severity         alert.Severity
	from             time.Duration // after the start of its story
	length           time.Duration
}

// The stories and when they start, counted from the start of the organization's
// first day. Those that are open when somebody first looks count from the minute.
const (
	lockStormAt = -9*day + 19*time.Hour + 12*time.Minute // an evening
	fullDiskAt  = -16*day + 6*time.Hour + 40*time.Minute // lasts a day
	flappingAt  = -4*day + 13*time.Hour + 5*time.Minute  // an afternoon
)

const day = 24 * time.Hour

// lockStorm spreads from one database to whatever waits for it.
var lockStorm = []incident{
	{"demo-pg-orders-01", "orders", "lock-storm", "40 sessions wait for locks of one transaction", alert.Critical, 0, 78 * time.Minute},
	{"demo-pg-orders-01", "", "lock-storm-connections", "Connections above 95 % of max_connections", alert.Critical, 3 * time.Minute, 74 * time.Minute},
	{"demo-pg-orders-01", "orders_archive", "lock-storm", "12 sessions wait for locks", alert.Warning, 4 * time.Minute, 70 * time.Minute},
	{"demo-pg-orders-01", "orders", "lock-storm-latency", "Statements take 20 times as long as yesterday", alert.Warning, 4 * time.Minute, 75 * time.Minute},
	{"demo-pg-orders-01", "orders", "lock-storm-deadlocks", "More than 10 deadlocks a minute", alert.Critical, 6 * time.Minute, 51 * time.Minute},
	{"demo-pg-orders-02", "orders", "lock-storm", "Replay is blocked by a query on the standby", alert.Warning, 7 * time.Minute, 66 * time.Minute},
	{"demo-pg-orders-02", "", "lock-storm-lag", "Replication lag above 15 minutes", alert.Critical, 15 * time.Minute, 58 * time.Minute},
	{"demo-pg-billing-01", "billing", "lock-storm", "25 sessions wait for locks", alert.Critical, 9 * time.Minute, 55 * time.Minute},
	{"demo-pg-billing-01", "ledger", "lock-storm", "9 sessions wait for locks", alert.Warning, 11 * time.Minute, 50 * time.Minute},
	{"demo-pg-billing-01", "", "lock-storm-connections", "Connections above 95 % of max_connections", alert.Critical, 13 * time.Minute, 49 * time.Minute},
	{"demo-pg-billing-01", "billing", "lock-storm-latency", "Statements take 12 times as long as yesterday", alert.Warning, 12 * time.Minute, 52 * time.Minute},
	{"demo-pg-identity-01", "identity", "lock-storm", "31 sessions wait for locks", alert.Critical, 14 * time.Minute, 44 * time.Minute},
	{"demo-pg-identity-01", "identity", "lock-storm-latency", "Sign-ins take longer than 5 seconds", alert.Critical, 15 * time.Minute, 42 * time.Minute},
	{"demo-pg-legacy-01", "crm", "lock-storm", "8 sessions wait for locks", alert.Warning, 17 * time.Minute, 38 * time.Minute},
	{"demo-pg-legacy-01", "crm_reporting", "lock-storm", "3 sessions wait for locks", alert.Info, 19 * time.Minute, 33 * time.Minute},
	{"demo-pg-legacy-01", "mail", "lock-storm-queue", "The queue of outgoing mail grows", alert.Info, 24 * time.Minute, 61 * time.Minute},
	{"demo-mssql-erp-01", "ERP", "lock-storm-import", "The order import has been waiting for 10 minutes", alert.Warning, 18 * time.Minute, 57 * time.Minute},
	{"demo-mongo-events-01", "events", "lock-storm-backlog", "The backlog of order events grows", alert.Warning, 20 * time.Minute, 82 * time.Minute},
	{"", "", "lock-storm-shop", "The shop's error rate is above 5 %", alert.Critical, 8 * time.Minute, 71 * time.Minute},
}

// fullDisk takes the better part of two nights to be mended.
var fullDisk = []incident{
	{"demo-mssql-erp-01", "", "full-disk", "Volume D: is full", alert.Critical, 0, 25*time.Hour + 15*time.Minute},
	{"demo-mssql-erp-01", "ERP", "full-disk-log", "The transaction log cannot grow (error 9002)", alert.Critical, 6 * time.Minute, 3*time.Hour + 10*time.Minute},
	{"demo-mssql-erp-01", "ERP_Archive", "full-disk-log", "A data file cannot grow (error 1105)", alert.Warning, 22 * time.Minute, 24*time.Hour + 30*time.Minute},
	{"demo-mssql-erp-01", "ERP", "full-disk-backup", "The backup has failed: not enough space", alert.Critical, 18*time.Hour + 50*time.Minute, 7 * time.Hour},
	{"demo-mssql-erp-01", "ERP_Archive", "full-disk-backup", "The backup has failed: not enough space", alert.Critical, 19*time.Hour + 5*time.Minute, 7*time.Hour + 20*time.Minute},
	{"demo-mssql-erp-02", "ERP", "full-disk-replica", "Availability replica is not synchronizing", alert.Critical, 9 * time.Minute, 3*time.Hour + 20*time.Minute},
	{"", "", "full-disk-reports", "Month-end reports are late", alert.Info, 5 * time.Hour, 21 * time.Hour},
}

// flapping comes and goes every few minutes.
func flapping() []incident {
	var incidents []incident
	for n := range 22 {
		incidents = append(incidents, incident{
			"demo-mongo-events-01", "", "flapping", "A replica set member leaves and joins again", alert.Warning,
			time.Duration(n)*12*time.Minute + time.Duration(n*n%5)*time.Minute, time.Duration(3+n%4) * time.Minute,
		})
	}
	return incidents
}

// The rules of the two alerts that people have done something about.
const (
	acknowledgedRule = "ongoing-backup"
	mutedRule        = "ongoing-support"
)

// ongoing are open when the organization is made, and over at some time after.
var ongoing = []incident{
	{"demo-pg-orders-02", "", "ongoing-lag", "Replication lag above 15 minutes", alert.Critical, -95 * time.Minute, 27 * time.Hour},
	{"demo-ora-dwh-01", "STAGE", "ongoing-tablespace", "Tablespace STAGE above 97 %", alert.Critical, -6*time.Hour - 20*time.Minute, 31 * time.Hour},
	{"demo-mysql-web-01", "web", "ongoing-slow", "Slow queries above 200 a minute", alert.Warning, -18 * time.Minute, 7 * time.Hour},
	{"demo-mssql-hr-01", "Payroll", acknowledgedRule, "No full backup for 26 hours", alert.Warning, -3*time.Hour - 35*time.Minute, 20 * time.Hour},
	{"demo-pg-legacy-01", "", mutedRule, "PostgreSQL 12 gets no more updates", alert.Info, -26*day - 5*time.Hour, 90 * day},
	{"demo-pg-billing-01", "ledger", "ongoing-transaction", "A transaction has been open for 30 minutes", alert.Warning, -42 * time.Minute, 3 * time.Hour},
	{"demo-mongo-events-01", "events", "ongoing-scans", "Collection scans above 400 a second", alert.Info, -51 * time.Minute, 9 * time.Hour},
	{"", "", "ongoing-certificate", "The backup proxy's certificate ends in 13 days", alert.Info, -20 * time.Hour, 4 * day},
}
