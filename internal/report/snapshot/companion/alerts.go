package companion

import (
	"strconv"
	"time"

	"muster/internal/report/snapshot"
)

// alertsHeader are the columns of the HTTP contract, §36.
var alertsHeader = []string{
	"alertId", "instance", "rule", "severity", "createdAt", "acknowledgedAt", "resolvedAt", "openAtStart", "openAtEnd", "mutedBy", "mutedUntil", "told",
}

// alertsRows has a row for each alert of the window, in the order in which they were raised.
func alertsRows(s *Set) [][]string {
	doc := s.doc
	if doc.AlertRecords == nil || doc.Window == nil {
		return nil
	}
	names := map[string]string{}
	for _, s := range doc.AlertRecords.Servers {
		names[id(s.ID)] = Cell(s.Name)
	}
	rows := make([][]string, 0, len(doc.AlertRecords.Listed))
	for i := range doc.AlertRecords.Listed {
		a := &doc.AlertRecords.Listed[i]
		mutedBy, mutedUntil := lastMute(a.Mutes)
		rows = append(rows, []string{
			id(a.ID), names[id(a.InstanceID)], Cell(a.Rule), a.Severity, at(&a.RaisedAt), at(a.AcknowledgedAt), at(a.ClosedAt),
			strconv.FormatBool(a.OpenAt(doc.Window.From)), strconv.FormatBool(a.OpenAt(doc.Window.To)), mutedBy, mutedUntil, a.Told,
		})
	}
	return rows
}

// lastMute is who muted an alert last in the window, and until when; "for good" if no end was announced.
func lastMute(mutes []snapshot.AlertMute) (by, until string) {
	if len(mutes) == 0 {
		return "", ""
	}
	m := mutes[len(mutes)-1]
	by, until = "a program", "for good"
	if m.By != nil {
		by = Cell(m.By.Shown())
	}
	if m.Until != nil {
		until = at(m.Until)
	}
	if m.Ended != nil && (m.Until == nil || m.Ended.Before(*m.Until)) {
		until = m.Ended.UTC().Format(time.RFC3339Nano)
	}
	return by, until
}
