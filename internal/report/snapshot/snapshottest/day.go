package snapshottest

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
)

// dayOf gives a document the day of an organization without servers.
func dayOf(doc *snapshot.Document) {
	to := AsOf().Truncate(24 * time.Hour).Add(6 * time.Hour)
	doc.Window = &snapshot.Window{From: to.Add(-24 * time.Hour), To: to}
	doc.ScopeLabel = "Whole organization · 19 – 20 Nov 2026 (UTC)"
	zone := day.Zone{Name: "Europe/Berlin", Offsets: []day.Offset{{From: to.AddDate(0, 0, -26), Seconds: 3600}}}
	doc.Day = &day.Digest{From: doc.Window.From, To: to, Zone: zone, Whole: true, Verdict: day.Verdict{Level: day.Nothing}, Muster: &day.Muster{}}
	doc.Day.Instruments.Feed = to.AddDate(0, 0, -6)
}

// Quiet is a digest of a day on which nothing happened, and everything was heard.
func Quiet() snapshot.Document {
	doc := Rich(report.DailyDigest)
	dayOf(&doc)
	d := doc.Day
	d.Servers, d.Verdict.Level = 12, day.Quiet
	d.Instruments.AllDay, d.Instruments.Agents, d.Trouble.Untroubled = 12, 3, 12
	d.Room.InTime, d.Room.Measured, d.Statements.Servers, d.Due.Assessed = 9, 12, 12, 12
	return doc
}

// busyDay is a day with something in every part of a digest.
func busyDay(doc *snapshot.Document) {
	d := doc.Day
	at := func(clock string) time.Time { // of the night before the end
		t, err := time.ParseInLocation("2006-01-02 15:04", d.To.Format("2006-01-02 ")+clock, time.FixedZone("", 3600))
		if err != nil {
			panic(err)
		}
		return t.UTC()
	}
	alert, server := ID(700), ID(105)
	d.Servers = 12
	d.Verdict = day.Verdict{Level: day.Critical, Needs: 2, Critical: 1, Unheard: 1, First: &day.First{
		Server: "pg-identity-01", Instance: &server, Alert: &alert, What: "Volume /data is at 92%", Advice: "Free space, or enlarge the volume.", Owner: "Identity", Since: at("02:38"),
	}}
	silent := day.Stretch{From: at("04:10"), To: at("04:52")}
	d.Instruments = day.Instruments{
		AllDay: 11, Unheard: []day.Silence{{Server: "pg-billing-01", Stretches: []day.Stretch{silent}, Seconds: 2520}}, Gaps: []day.Stretch{silent}, Agents: 12, Feed: d.To.AddDate(0, 0, -6),
	}
	d.Trouble = day.Trouble{Untroubled: 6, Unheard: 1, Listed: []day.Troubled{
		{Instance: server, Server: "pg-identity-01", Level: day.Critical, What: []string{"Volume /data is at 92%"}, Since: at("02:38"), Alert: &alert, Open: 1, Change: 1},
		{Server: "mssql-finance-01", Level: day.Critical, What: []string{"tmp_migration: Login has a weak password, overdue", "Newest backup of ERP is 41 days old"}, Since: at("06:10"), Open: 1, Change: 1},
		{Server: "ora-erp-01", Level: day.High, What: []string{"STAGE at 95%, full in about a day"}, Since: d.To.AddDate(0, 0, -2)},
		{Server: "pg-legacy-01", Level: day.Medium, What: []string{"Version is out of support (muted)"}, Since: d.To.AddDate(0, 0, -20), Open: 1, Muted: 1},
	}}
	d.Alerts = day.Alerts{
		Start: 3, End: 5, MutedAtStart: 1, Raised: day.BySeverity{Critical: 1, Warning: 14, Info: 9}, ByThemselves: 17, ByPeople: 5,
		Open: day.BySeverity{Critical: 1, Warning: 3, Info: 1}, Seen: 4, Muted: 1,
		Oldest: &day.OldestAlert{Title: "Version is out of support", Server: "pg-legacy-01", Created: d.To.AddDate(0, 0, -26), Muted: true},
	}
	item := day.Item{Due: at("06:10"), Title: "Login has a weak password", Object: "tmp_migration", Server: "mssql-finance-01", Owner: "Finance", Severity: "Critical"}
	d.Due = day.Due{
		Overdue: 43, Before: 42, Fallen: []day.Item{item}, Assessed: 10,
		Coming: []day.Item{
			{Due: d.To.AddDate(0, 0, 4), Title: "Password expires", Object: "DBSNMP", Server: "ora-erp-01", Owner: "Platform", Severity: "High"},
			{Due: d.To.AddDate(0, 0, 7), Title: "Release has known vulnerabilities", Server: "pg-catalog-01", Severity: "High"},
		},
		Expiring: []day.Expiry{
			{At: d.To.AddDate(0, 0, 9), Kind: "exception", What: "Connections are not logged", About: "pg-orders-01"},
			{At: d.To.AddDate(0, 0, 12), Kind: "certificate", What: "its certificate expires in 12 days", About: "pg-billing-02"},
		},
		Expires: 2,
	}
	days := 1.1
	d.Room = day.Room{
		Late: []day.Backup{{Server: "mssql-finance-01", Database: "ERP", Seconds: 41 * 86400, Limit: 86400}}, LateAll: 1, InTime: 6, Untold: 5,
		Jobs: []day.Job{{Server: "mssql-finance-01", Title: "2 runs of jobs failed", At: at("03:12")}}, JobsAll: 1,
		Full: []day.Fill{{Name: "STAGE", On: "ora-erp-01", Percent: 95, Days: &days}}, FullAll: 1, NoDate: []day.Fill{{Name: "/data", On: "pg-identity-01", Percent: 92, Why: "step"}}, Measured: 11,
	}
	share := 6.0
	d.Statements = day.Statements{
		Servers: 5, SlowAll: 2, New: 3, NewOn: []string{"pg-orders-01"}, Share: &share,
		Slower: []day.Statement{
			{ID: ID(801), Server: "pg-orders-01", Text: "SELECT name, address FROM customer_order WHERE customer = $1", Before: 4.3, Now: 10},
			{ID: ID(802), Server: "pg-billing-01", Text: "UPDATE debtor SET balance = balance + $1", Before: 9.8, Now: 20},
		},
	}
	d.Held = day.Held{Muted: 1, Maintenance: 2, Listed: []string{"Replication lag on pg-orders-02"}}
	d.Delivery = day.Delivery{Messages: 29, Failed: 2, Before: 0, Channels: []day.Refused{{Channel: "Pager", Failed: 2, First: at("02:39"), Why: "the receiver answered 503"}}}
	d.Muster = &day.Muster{Ready: 4, Runs: 2}
}

// CrowdedDay is a digest of n servers, all of which have trouble, with as much of everything as there may be.
func CrowdedDay(n int) snapshot.Document {
	doc := Rich(report.DailyDigest)
	d := doc.Day
	long := "The newest backup of a database with quite a long name is older than its objective allows"
	d.Servers, d.Trouble = n, day.Trouble{Omitted: n - day.MostServers}
	d.Verdict.Needs, d.Verdict.Unheard = n, n
	for i := range day.MostServers {
		d.Trouble.Listed = append(d.Trouble.Listed, day.Troubled{Instance: ID(1000 + i), Server: fmt.Sprintf("pg-warehouse-eu-central-%04d", i), Level: day.Critical, What: []string{long, long}, More: 3, Since: d.To, Open: 14, Change: 3})
	}
	fill := func(n int, add func(i int)) {
		for i := range n {
			add(i)
		}
	}
	d.Instruments.AllDay, d.Instruments.Omitted = 0, n-day.MostNamed
	fill(day.MostNamed-1, func(int) { d.Instruments.Unheard = append(d.Instruments.Unheard, d.Instruments.Unheard[0]) })
	item := d.Due.Fallen[0]
	item.Title = long
	d.Due.Fallen, d.Due.Coming, d.Due.Expiring, d.Due.Omitted, d.Due.Expires = nil, nil, nil, 200, 90
	fill(day.MostDue, func(int) { d.Due.Fallen, d.Due.Coming = append(d.Due.Fallen, item), append(d.Due.Coming, item) })
	fill(day.MostExpiring, func(int) {
		d.Due.Expiring = append(d.Due.Expiring, day.Expiry{At: d.To, Kind: "exception", What: long, About: "pg-warehouse-eu-central-0001"})
	})
	room := &d.Room
	late, full, undated, job := room.Late[0], room.Full[0], room.NoDate[0], room.Jobs[0]
	room.Late, room.Full, room.NoDate, room.Jobs = nil, nil, nil, nil
	fill(day.MostRoom, func(int) { room.Late, room.Full = append(room.Late, late), append(room.Full, full) })
	fill(day.MostJobs, func(int) { room.NoDate, room.Jobs = append(room.NoDate, undated), append(room.Jobs, job) })
	room.LateAll, room.FullAll, room.JobsAll = 900, 80, 70
	fill(day.MostStatements-2, func(int) { d.Statements.Slower = append(d.Statements.Slower, d.Statements.Slower[0]) })
	fill(day.MostNamed-1, func(int) { d.Delivery.Channels = append(d.Delivery.Channels, d.Delivery.Channels[0]) })
	d.Statements.SlowAll = 400
	*d.Muster = day.Muster{Ready: 30, Failed: 12, Mails: 4, Runs: 40, Missed: 9, Dead: 3, FailedReports: []string{long, long}, MissedRuns: []string{long}}
	return doc
}

// hostileDay replaces the texts of a day.
func hostileDay(d *day.Digest, next func() string) {
	if d == nil {
		return
	}
	d.Zone.Name = next()
	if f := d.Verdict.First; f != nil {
		f.Server, f.What, f.Advice, f.Owner = next(), next(), next(), next()
	}
	for i := range d.Instruments.Unheard {
		d.Instruments.Unheard[i].Server = next()
	}
	for i := range d.Trouble.Listed {
		x := &d.Trouble.Listed[i]
		x.Server, x.Owner, x.What = next(), next(), []string{next(), next()}
	}
	if o := d.Alerts.Oldest; o != nil {
		o.Title, o.Server = next(), next()
	}
	for _, items := range [][]day.Item{d.Due.Fallen, d.Due.Coming} {
		for i := range items {
			items[i].Title, items[i].Object, items[i].Server, items[i].Owner = next(), next(), next(), next()
		}
	}
	for i := range d.Due.Expiring {
		d.Due.Expiring[i].What, d.Due.Expiring[i].About = next(), next()
	}
	for i := range d.Room.Late {
		d.Room.Late[i].Server, d.Room.Late[i].Database = next(), next()
	}
	for i := range d.Statements.Slower {
		d.Statements.Slower[i].ID, d.Statements.Slower[i].Text, d.Statements.Slower[i].Server = uuid.Nil, next(), next()
	}
	d.Held.Listed = []string{next()}
	for i := range d.Delivery.Channels {
		d.Delivery.Channels[i].Channel, d.Delivery.Channels[i].Why = next(), next()
	}
	d.Muster = &day.Muster{Failed: 1, Missed: 1, FailedReports: []string{next()}, MissedRuns: []string{next()}}
}
