package snapshottest

import (
	"math"
	"time"

	"muster/internal/snapshot"
)

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
