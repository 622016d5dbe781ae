package companion

import (
	"strconv"
	"time"
)

// slaHeader are the columns of the HTTP contract, §36.
var slaHeader = []string{
	"instance", "upSeconds", "downSeconds", "unknownSeconds", "maintenanceSeconds", "objectivePercent", "latencyMeanMs", "latencyCoverage",
}

// slaRows has a row for each server, by name. What is not known is empty.
func slaRows(s *Set) [][]string {
	doc := s.doc
	if doc.ServiceRecords == nil {
		return nil
	}
	rows := make([][]string, 0, len(doc.ServiceRecords.Servers))
	for i := range doc.ServiceRecords.Servers {
		s := &doc.ServiceRecords.Servers[i]
		coverage := ""
		if s.MeanMs != nil {
			coverage = number(&s.Coverage)
		}
		rows = append(rows, []string{
			Cell(s.Name), seconds(s.Up), seconds(s.Down), seconds(s.Unknown), seconds(s.Maintenance), number(s.ObjectivePercent), number(s.MeanMs), coverage,
		})
	}
	return rows
}

// seconds is a duration with as many decimals as it has, up to microseconds.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
