package alertsum

import (
	"slices"
	"time"

	"muster/internal/report/snapshot"
)

// Duration is an estimate of a quantile. AtLeast says that too many alerts were still waiting to know more than that.
type Duration struct {
	Value   time.Duration
	AtLeast bool
}

// Times is how long alerts that were raised in the window took until something happened. Alerts to which it had not
// happened when they were last seen count with the time that they had waited by then (Kaplan and Meier): leaving them out
// would make the slow ones disappear.
type Times struct {
	Happened          int
	Censored          int // it had not happened to them
	Over              int // of those: the alert was over without it
	Median, Ninetieth Duration
}

// observed is one alert: how long, and whether it ended by what was waited for.
type observed struct {
	after    time.Duration
	happened bool
}

// TimesToAcknowledge and TimesToResolve are the times of the alerts of a severity; empty: of all.
func TimesToAcknowledge(doc snapshot.Document, severity string) Times {
	return timesOf(doc, severity, func(a *snapshot.AlertRecord) *time.Time { return a.AcknowledgedAt })
}

// TimesToResolve is the time from raise to resolution.
func TimesToResolve(doc snapshot.Document, severity string) Times {
	return timesOf(doc, severity, func(a *snapshot.AlertRecord) *time.Time { return a.ClosedAt })
}

func timesOf(doc snapshot.Document, severity string, what func(*snapshot.AlertRecord) *time.Time) (t Times) {
	if doc.AlertRecords == nil || doc.Window == nil {
		return t
	}
	var all []observed
	for i := range doc.AlertRecords.Listed {
		a := &doc.AlertRecords.Listed[i]
		if !doc.Window.Within(&a.RaisedAt) || severity != "" && a.Severity != severity {
			continue
		}
		at := what(a)
		if at != nil {
			t.Happened++
			all = append(all, observed{max(at.Sub(a.RaisedAt), 0), true})
			continue
		}
		t.Censored++
		seen := doc.Window.To
		if a.ClosedAt != nil {
			t.Over++
			seen = *a.ClosedAt
		}
		all = append(all, observed{seen.Sub(a.RaisedAt), false})
	}
	t.Median, t.Ninetieth = quantile(all, 0.5), quantile(all, 0.9)
	return t
}

// quantile is the shortest time after which it had happened to that share of the alerts. At equal times, what
// happened counts before what was last seen waiting.
func quantile(all []observed, share float64) Duration {
	slices.SortFunc(all, func(a, b observed) int {
		switch {
		case a.after != b.after:
			return int(min(max(a.after-b.after, -1), 1))
		case a.happened == b.happened:
			return 0
		case a.happened:
			return -1
		}
		return 1
	})
	const rounding = 1e-9
	waiting, atRisk := 1.0, len(all)
	for _, o := range all {
		if o.happened {
			waiting *= float64(atRisk-1) / float64(atRisk)
			if 1-waiting >= share-rounding {
				return Duration{Value: o.after}
			}
		}
		atRisk--
	}
	if len(all) == 0 {
		return Duration{}
	}
	return Duration{Value: all[len(all)-1].after, AtLeast: true}
}
