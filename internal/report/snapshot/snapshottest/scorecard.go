package snapshottest

import (
	"math"
	"time"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
)

// alerts returns a month of them: one rule that keeps firing, a lock storm, a full disk, some
// that are open at the end, one from before the window, and two that are muted.
func alerts() *snapshot.AlertHistory {
	h := &snapshot.AlertHistory{}
	raise := func(severity, title, database string, before, lasted time.Duration) *snapshot.Alert {
		raised := AsOf().Add(-before)
		a := snapshot.Alert{
			ID: ID(8000 + len(h.Listed)), Title: title, Severity: severity, State: "Open", Database: database, Rule: "",
			CreatedAt: raised, FirstTriggeredAt: raised, LastTriggeredAt: AsOf().Add(-time.Minute), Occurrences: 1,
		}
		if lasted > 0 {
			ends := raised.Add(lasted)
			a.State, a.LastTriggeredAt, a.ResolvedAt = "AutoResolved", ends.Add(-time.Minute), &ends
		}
		h.Listed = append(h.Listed, a)
		return &h.Listed[len(h.Listed)-1]
	}
	const day = 24 * time.Hour
	for n := range 14 {
		raise("warning", "Replication lag above 60 seconds", "", time.Duration(29-2*n)*day+time.Duration(n)*47*time.Minute, time.Duration(6+3*n)*time.Minute)
	}
	for n := range 9 {
		a := raise("info", "Idle in transaction for 10 minutes", "crm", time.Duration(27-3*n)*day+9*time.Hour, time.Duration(20+7*n)*time.Minute)
		a.State, a.Occurrences = "Resolved", 1+n%3
	}
	for n, database := range []string{"orders", "crm", "orders", "crm", "orders"} {
		raise("critical", "Sessions wait for locks of one transaction", database, 9*day+time.Duration(40-4*n)*time.Minute, time.Duration(70-6*n)*time.Minute)
	}
	raise("critical", "Volume of the data directory is full: /var/lib/postgresql/15/main on pg-orders-01.db.nordlicht.example, 0 bytes of 2,199,023,255,552 are free", "",
		16*day, 25*time.Hour).Rule = "Volume above 90 %"
	raise("warning", "Dead rows above 20 % in the largest table", "orders", 33*day, 4*day)
	raise("critical", "Base backup is not complete by 04:00", "", 8*time.Hour, 0)
	raise("warning", "A transaction has been open for 30 minutes", "orders", 95*time.Minute, 0).State = "Acknowledged"
	raise("info", "PostgreSQL 15.3 is 12 releases behind", "", 40*day, 0).Muted = true
	raise("warning", "Connections above 85 % of max_connections", "", 3*day, 2*time.Hour).Muted = true
	h.Total = len(h.Listed)
	return h
}

// scores returns a month of days: a neglected server at first, a week without an assessment,
// and a single day between two gaps.
func scores() *snapshot.ScoreByDay {
	line := &snapshot.ScoreByDay{Start: AsOf().AddDate(0, 0, -30).Truncate(24 * time.Hour)}
	for n := range 31 {
		score := []int{38, 38, 38, 41, 41, 52, 52}[min(n/3, 6)]
		if n < 2 || n >= 20 && n < 26 && n != 23 {
			line.Scores = append(line.Scores, nil)
			continue
		}
		line.Scores = append(line.Scores, &score)
	}
	return line
}

// tuning returns the settings of a server that was never tuned on a machine that is known.
func tuning() *snapshot.Tuning {
	memory, cpus, open, at := int64(64<<30), 16, int64(212), AsOf().Add(-20*time.Second)
	return &snapshot.Tuning{
		Settings: []snapshot.Setting{
			{Name: "autovacuum", Value: "on"}, {Name: "autovacuum_max_workers", Value: "3"}, {Name: "autovacuum_work_mem", Value: "-1", Unit: "kB"},
			{Name: "checkpoint_completion_target", Value: "0.5"}, {Name: "checkpoint_timeout", Value: "300", Unit: "s"}, {Name: "effective_cache_size", Value: "524288", Unit: "8kB"},
			{Name: "maintenance_work_mem", Value: "65536", Unit: "kB"}, {Name: "max_connections", Value: "400"}, {Name: "max_wal_size", Value: "1024", Unit: "MB"},
			{Name: "random_page_cost", Value: "4"}, {Name: "shared_buffers", Value: "16384", Unit: "8kB"}, {Name: "work_mem", Value: "262144", Unit: "kB"},
		},
		Machines: []snapshot.Machine{{Host: "pg-orders-01.db.nordlicht.example", At: at, Instances: 1, MemoryBytes: &memory, CPUs: &cpus}},
		Open:     &open, SampledAt: &at, Waits: &snapshot.Waits{Hours: 692, Of: 720, IO: 1.342, Locks: 0.181, Latches: 0.04},
	}
}

// server returns the facts of a primary that grows and has a backup of the night.
func server() *snapshot.Server {
	return &snapshot.Server{
		Role: "primary", Before: &snapshot.SizeBefore{At: AsOf().AddDate(0, 0, -27), Change: 3 << 29},
		Backup: &snapshot.LastBackup{FinishedAt: AsOf().Add(-9 * time.Hour)},
		Room:   &day.Fill{Name: "/var/lib/postgresql", Percent: 81.5, Days: new(30.4)},
	}
}

// utilization returns a month of one host: busy days, a volume that fills, a night
// without its agent and two lonely hours of it.
func utilization() *snapshot.Utilization {
	from := AsOf().AddDate(0, 0, -30)
	u := &snapshot.Utilization{Start: from, Hosts: 1}
	for h := range 30 * 24 {
		if h >= 350 && h < 380 && h != 360 && h != 371 {
			u.CPUPercent, u.MemoryPercent, u.DiskPercent = append(u.CPUPercent, nil), append(u.MemoryPercent, nil), append(u.DiskPercent, nil)
			continue
		}
		at := from.Add(time.Duration(h) * time.Hour)
		day := math.Pow(math.Sin(math.Pi*float64(at.Hour())/24), 2)
		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
			day *= 0.3
		}
		rough := float64(h*7919%13) / 13
		cpu := math.Round(10*(12+62*day+14*rough*day)) / 10
		memory := math.Round(10*(61+9*day+3*rough)) / 10
		disk := math.Round(10*(63+0.61*float64(h)/24+0.4*rough)) / 10
		u.CPUPercent, u.MemoryPercent, u.DiskPercent = append(u.CPUPercent, &cpu), append(u.MemoryPercent, &memory), append(u.DiskPercent, &disk)
	}
	minutes := 60*690 + 2*7 // the two lonely hours have a few
	u.CPUMinutes, u.MemoryMinutes, u.DiskMinutes = &minutes, &minutes, &minutes
	return u
}
