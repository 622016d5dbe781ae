package demo

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// nightly is the batch that sorts much in one long transaction, every night.
var nightly = between{time.Time{}.Add(2 * time.Hour), time.Time{}.Add(2*time.Hour + 40*time.Minute)}

// checkpointEvery is how often a checkpoint is due.
const checkpointEvery = 5

// figures are what a server tells about itself in the minutes from first to last; nil of an engine of which Muster reads none.
func (a *agent) figures(first, last time.Time) *measurements.ServerSample {
	if idleWait[a.Engine] == "" && a.Engine != fleet.SQLServer || len(a.databases) == 0 {
		return nil
	}
	s := &measurements.ServerSample{Instance: a.instance, Engine: a.Engine, At: last}
	minute, minutes := minuteOf(last), int64(last.Sub(first)/time.Minute)+1
	told := func(of measurements.Figure, value int64, database uuid.UUID, by *measurements.Holder) {
		f := measurements.ServerFigure{Figure: of, Database: database, Telling: measurements.Told, Value: value, Holder: by}
		if of.Counts() {
			f.Interval = time.Duration(minutes) * time.Minute
		}
		s.Figures = append(s.Figures, f)
	}
	untold := func(figures ...measurements.Figure) {
		for _, of := range figures {
			s.Figures = append(s.Figures, measurements.ServerFigure{Figure: of, Telling: measurements.NotTold})
		}
	}
	seed := func(what string) chance { return newChance(a.Name, what) }
	clock := time.Time{}.Add(last.Sub(last.Truncate(day)))
	batch := nightly.has(clock)
	a.oldest(last, clock, batch, told)
	load, written := a.load(last), int64(0)
	if batch {
		written = minutes * int64((150+100*seed("sorted").draw(minute))*(1<<20))
	} else if seed("sorts").draw(minute) < 0.08*load {
		written = int64((4 + 60*seed("sorted").draw(minute)) * (1 << 20))
	}
	buffers := seed("buffers").whole(minute, 900*load*float64(minutes))
	connections := seed("connections").whole(minute, float64(minutes)*(40+float64(a.Pool)*4*load))
	if seed("storm of connections").draw(minute/20) < 0.02 {
		connections += 40 * 60 * minutes
	}
	told(measurements.NewConnections, connections, uuid.Nil, nil)
	told(measurements.CheckpointBuffers, buffers, uuid.Nil, nil)
	if a.Engine != fleet.PostgreSQL {
		told(measurements.TemporaryUsed, 64<<20+written/4, uuid.Nil, nil)
		untold(measurements.TemporaryFiles, measurements.CheckpointsTimed, measurements.CheckpointsAsked, measurements.CheckpointWriting, measurements.CheckpointSyncing)
		if a.Engine != fleet.Oracle {
			untold(measurements.TemporaryBytes)
			return s
		}
	} else {
		due := (minute+1)/checkpointEvery - (minute+1-minutes)/checkpointEvery
		told(measurements.CheckpointsTimed, due, uuid.Nil, nil)
		told(measurements.CheckpointsAsked, map[bool]int64{true: minutes}[batch], uuid.Nil, nil)
		told(measurements.CheckpointWriting, buffers*11, uuid.Nil, nil)
		told(measurements.CheckpointSyncing, buffers/3, uuid.Nil, nil)
		told(measurements.TemporaryFiles, written>>25+min(written, 1), uuid.Nil, nil)
		untold(measurements.TemporaryUsed)
		if written > 0 {
			told(measurements.TemporaryBytes, written, a.databases[0].id, nil)
		}
	}
	told(measurements.TemporaryBytes, written, uuid.Nil, nil)
	return s
}

// oldest tells the oldest transactions: of what holds others up, of the nightly batch, or of any short one.
func (a *agent) oldest(at, clock time.Time, batch bool, told func(measurements.Figure, int64, uuid.UUID, *measurements.Holder)) {
	minute := minuteOf(at)
	age, idle := int64(200+9000*newChance(a.Name, "open").draw(minute)), int64(3000*newChance(a.Name, "idle").draw(minute))
	by := func(user, application, client string, state measurements.State, d *database) *measurements.Holder {
		session := strconv.Itoa(20000 + int(newChance(a.Name, user).draw(minute/60)*9000))
		return &measurements.Holder{Session: session, Database: d.id, Doing: measurements.Doing{State: state, User: user, Application: application, Client: client}}
	}
	first := &a.databases[0]
	holds, idles := by("shop", "checkout", "10.4.1.11", measurements.OnCPU, first), by("shop", "checkout", "10.4.1.12", measurements.IdleInTransaction, first)
	if batch {
		age, holds = clock.Sub(nightly.starts).Milliseconds()+1000, by("batch", "nightly-report", "10.4.3.20", measurements.OnCPU, first)
	}
	for i := range a.databases {
		for _, held := range a.databases[i].strains {
			open := at.Sub(held.starts) + 33*time.Second
			if held.strain.Open > 0 { // its alert says so of one that has been open for 30 minutes
				open += 30 * time.Minute
			}
			if held.strain.Locked+held.strain.Open > 0 && held.strength(at) > 0 && open.Milliseconds() > age {
				age, idle = open.Milliseconds(), (open - 6*time.Second).Milliseconds()
				holds = by("bill", "billing", "10.4.2.17", measurements.IdleInTransaction, &a.databases[i])
				idles = holds
			}
		}
	}
	told(measurements.OldestTransaction, age, uuid.Nil, holds)
	told(measurements.OldestIdle, idle, uuid.Nil, idles)
}
