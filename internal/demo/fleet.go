package demo

import (
	"time"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
)

// server is one demo server: what a feed would say of it.
type server struct {
	name      string
	engine    fleet.Engine
	version   string
	host      string
	inactive  bool
	daysOld   int
	databases []string
}

// servers are the thirteen that exist on paper only; the fourteenth is Muster's
// own PostgreSQL, which is real. They cover every engine, two servers on one
// host, one that is inactive, and versions in and out of support.
var servers = []server{
	{"demo-pg-orders-01", fleet.PostgreSQL, "16.4", "db01", false, 420, []string{"orders", "orders_archive"}},
	{"demo-pg-orders-02", fleet.PostgreSQL, "16.4", "db02", false, 420, []string{"orders"}},
	{"demo-pg-billing-01", fleet.PostgreSQL, "15.6", "db03", false, 300, []string{"billing", "ledger"}},
	{"demo-pg-identity-01", fleet.PostgreSQL, "17.2", "db04", false, 90, []string{"identity"}},
	{"demo-pg-legacy-01", fleet.PostgreSQL, "12.22", "db05", false, 900, []string{"crm", "crm_reporting", "mail"}},
	{"demo-pg-retired-01", fleet.PostgreSQL, "13.9", "db05", true, 900, []string{"wiki"}},
	{"demo-mssql-erp-01", fleet.SQLServer, "16.0.4135", "win01", false, 380, []string{"ERP", "ERP_Archive"}},
	{"demo-mssql-erp-02", fleet.SQLServer, "15.0.4382", "win02", false, 380, []string{"ERP"}},
	{"demo-mssql-hr-01", fleet.SQLServer, "16.0.4135", "win03", false, 200, []string{"HR", "Payroll"}},
	{"demo-ora-core-01", fleet.Oracle, "19.24", "ora01", false, 700, []string{"CORE"}},
	{"demo-ora-dwh-01", fleet.Oracle, "21.15", "ora02", false, 5, []string{"DWH", "STAGE"}},
	{"demo-mongo-events-01", fleet.MongoDB, "7.0.12", "doc01", false, 150, []string{"events"}},
	{"demo-mysql-web-01", fleet.MySQL, "8.4.2", "web01", false, 3, []string{"web"}},
}

// items is the demo fleet as a feed would send it at now: a pure function of now's day.
func items(now time.Time) []commands.FleetItem {
	today := now.UTC().Truncate(24 * time.Hour)
	out := make([]commands.FleetItem, len(servers))
	for i, s := range servers {
		created := today.AddDate(0, 0, -s.daysOld).Add(8 * time.Hour)
		active := !s.inactive
		item := commands.FleetItem{
			ExternalID: s.name, Name: s.name, Engine: s.engine,
			Version: &s.version, Host: &s.host, Active: &active, CreatedAt: created,
		}
		for k, name := range s.databases {
			item.Databases = append(item.Databases, commands.FleetDatabase{
				ExternalID: name, Name: name, CreatedAt: created.Add(time.Duration(5*(k+1)) * time.Minute),
			})
		}
		out[i] = item
	}
	return out
}

// people are the demo organization's members besides whoever signs in first.
var people = []struct {
	name, email string
	role        organization.Role
}{
	{"Ana Ruiz", "ana.ruiz@demo.example", organization.Member},
	{"Jonas Weber", "jonas.weber@demo.example", organization.Admin},
	{"Mei Tanaka", "mei.tanaka@demo.example", organization.Auditor},
	{"Samuel Okoye", "samuel.okoye@demo.example", organization.Viewer},
}
