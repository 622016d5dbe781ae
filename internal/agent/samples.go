package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/internal/httpapi/api"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
)

func number(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', -1, 64)) }

func count(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

func seconds(d time.Duration) json.Number { return number(d.Seconds()) }

func sessionSample(server, database string, s measurements.SessionSample) api.SessionSample {
	every := seconds(s.Interval)
	waits := make(map[string]json.Number, len(s.Waits))
	for name, n := range s.Waits {
		waits[name] = count(n)
	}
	var deadlocks *json.Number
	if s.Deadlocks != nil {
		n := count(*s.Deadlocks)
		deadlocks = &n
	}
	return api.SessionSample{
		Instance: server, Database: database, At: s.At.UTC(), IntervalSeconds: &every,
		Active: count(s.Active), Idle: count(s.Idle), Waiting: count(s.Waiting), IdleInTransaction: count(s.IdleInTransaction), Other: count(s.Other),
		Waits: waits, Activity: activityOf(s), Deadlocks: deadlocks,
	}
}

// mostActivity is how many kinds of sessions a sample may have (contract): the store keeps fewer.
const mostActivity = 1000

// activityOf is what the sessions of a sample do; nil: none does anything.
func activityOf(s measurements.SessionSample) *[]api.SentActivity {
	if len(s.Doing) == 0 {
		return nil
	}
	doings := slices.Clone(s.Doing)
	slices.SortStableFunc(doings, func(a, b measurements.Doing) int { return cmp.Compare(b.Sessions, a.Sessions) })
	out := make([]api.SentActivity, 0, min(len(doings), mostActivity))
	for _, d := range doings[:cap(out)] {
		out = append(out, api.SentActivity{
			State: api.ActivityState(d.State), Wait: stated(d.Wait), Event: stated(d.Event), Statement: stated(d.Statement),
			User: stated(d.User), Application: stated(d.Application), Client: stated(d.Client), Sessions: count(d.Sessions),
		})
	}
	return &out
}

// mostTexts bounds the texts of one sample: a call has 4 MiB. The dearest were read first,
// and those beyond are asked for again after a day.
const mostTexts = 2 << 20

func statementSample(server, database string, s measurements.StatementSample) api.StatementSample {
	out := api.StatementSample{
		Instance: server, Database: database, At: s.At.UTC(), IntervalSeconds: seconds(s.Interval), Statements: []api.StatementDelta{},
	}
	if s.BusyMs != nil {
		busy := number(*s.BusyMs)
		out.BusyMs = &busy
	}
	texts := 0
	for _, one := range s.Statements {
		delta := api.StatementDelta{Key: one.Key, Calls: count(one.Calls), TotalMs: number(one.TotalMs)}
		if one.MaxMs != nil {
			longest := number(*one.MaxMs)
			delta.MaxMs = &longest
		}
		if one.Own {
			delta.Own = &one.Own
		}
		if one.RanBefore {
			delta.RanBefore = &one.RanBefore
		}
		if texts += len(one.Text); one.Text != "" && texts <= mostTexts {
			delta.Text = &one.Text
		}
		out.Statements = append(out.Statements, delta)
	}
	return out
}

func blockingSample(server string, s blocking.Sample) api.BlockingSample {
	out := api.BlockingSample{
		Instance: server, At: s.At.UTC(), IntervalSeconds: seconds(s.Interval), Advisory: stated(s.Advisory), Omitted: stated(s.Omitted),
		Sessions: []api.SentBlockingSession{}, EndedBy: stated(api.BlockingEnd(s.End)),
	}
	if d := s.Deadlock; d != nil {
		out.Deadlock = &api.SentDeadlock{Database: stated(d.Database), Count: &d.Count, Seen: stated(d.Seen)}
		if len(d.Victims) > 0 {
			out.Deadlock.Victims = &d.Victims
		}
	}
	for _, n := range s.Nodes {
		one := api.SentBlockingSession{
			Session: n.Session, Kind: api.BlockingKind(n.Kind), StartedAt: n.Began, User: stated(n.User), Application: stated(n.Application),
			Client: stated(n.Client), Database: stated(n.Database), State: stated(n.State), IdleInTransaction: stated(n.Idle),
			Statement: stated(n.Statement), StatementId: stated(n.StatementID), TransactionSince: n.Transaction, StateSince: n.Changed,
			WaitsSince: n.Waits, Lock: stated(n.Lock), Mode: stated(n.Mode), Object: stated(n.Object), Advisory: stated(n.Advisory),
		}
		if len(n.For) > 0 {
			one.WaitsFor = &n.For
		}
		out.Sessions = append(out.Sessions, one)
	}
	return out
}

// mostFigures is how many figures a sample may have (contract): those of most databases are zero, and
// not sent.
const mostFigures = 1000

func serverSample(server string, s measurements.ServerSample, names map[uuid.UUID]string) api.ServerSample {
	out := api.ServerSample{Instance: server, At: s.At.UTC(), Figures: []api.SentFigure{}}
	for _, f := range s.Figures {
		if f.Database != uuid.Nil && names[f.Database] == "" || len(out.Figures) == mostFigures {
			continue
		}
		one := api.SentFigure{Figure: api.ServerFigure(f.Figure), Database: stated(names[f.Database])}
		if f.Telling != measurements.Told {
			one.State = stated(api.FigureState(f.Telling))
			out.Figures = append(out.Figures, one)
			continue
		}
		value := count(f.Value)
		if one.Value = &value; f.Figure.Counts() {
			interval := seconds(f.Interval)
			one.IntervalSeconds = &interval
		}
		if h := f.Holder; h != nil {
			one.Holder = &api.SentHolder{
				Session: h.Session, State: api.ActivityState(h.State), Database: stated(names[h.Database]),
				User: stated(h.User), Application: stated(h.Application), Client: stated(h.Client), Statement: stated(h.Statement),
			}
		}
		out.Figures = append(out.Figures, one)
	}
	return out
}

// replicationSample is a state as it is sent. Both have the same form, but for whose it is and when.
func replicationSample(server string, s replication.State) (sample api.ReplicationSample, err error) {
	body, err := json.Marshal(s.Fit())
	if err == nil {
		err = json.Unmarshal(body, &sample)
	}
	if sample.Role == "" { // which the form does not have: with the grant that is missing, this one says so
		sample.Role = api.ReplicationRoleAlone
	}
	sample.Instance, sample.At = server, s.At.UTC()
	return sample, err
}

// mostBackups is how many backups and databases a look may have (contract).
const mostBackups = 10_000

// backupLook is a look as it is sent, with the databases' names.
func backupLook(server string, l backups.Look) api.BackupLook {
	l = l.Fit(l.At.Add(ahead))
	out := api.BackupLook{
		Instance: server, At: l.At.UTC(), Source: api.BackupSource(l.Source), Condition: api.BackupCondition(l.Condition), Why: stated(l.Why), Denied: stated(l.Denied),
	}
	var sent []api.LookedBackup
	for _, b := range l.Backups[:min(len(l.Backups), mostBackups)] {
		sent = append(sent, api.LookedBackup{
			Database: stated(b.Name), Kind: api.BackupKind(b.Kind), StartedAt: b.StartedAt, FinishedAt: b.FinishedAt.UTC(), SizeBytes: b.SizeBytes, Tool: stated(b.Tool),
		})
	}
	var complete []api.BackedUpDatabase
	for _, d := range l.Complete[:min(len(l.Complete), mostBackups)] {
		complete = append(complete, api.BackedUpDatabase{Database: stated(d.Name), Since: d.Since.UTC(), NoLog: stated(d.NoLog)})
	}
	if len(sent) > 0 {
		out.Backups = &sent
	}
	if len(complete) > 0 {
		out.Complete = &complete
	}
	return out
}

// itemsIn is how many items a record's list has.
func itemsIn(body []byte) int {
	var items []json.RawMessage
	if json.Unmarshal(body, &items) != nil {
		return 0
	}
	return len(items)
}
