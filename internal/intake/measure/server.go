package measure

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/internal/concurrency/lease"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

// StatementTimeout is how long one of our queries may run. They take milliseconds; a
// server that is slower has other worries.
const StatementTimeout = 5 * time.Second

// backupsEvery is how often backups are read. The views of them are slower than others.
const backupsEvery = 10 * time.Minute

// Config is what a server is measured with.
type Config struct {
	Engine       Engine
	Organization uuid.UUID
	Instance     uuid.UUID
	Home         Home
	Gate         *Gate
	// Open opens a session on one of the target's databases; nil: as the target does.
	Open func(ctx context.Context, t servers.Target, database string) (servers.Session, error)
	// Identified gets the server's identity on each new connection; nil: the server is not
	// asked.
	Identified func(ctx context.Context, is servers.Identity) error
	Log        *slog.Logger
	Unnamed    bool // the log names no accounts of the server: see Troubles
	Now        func() time.Time
	// NoRoom says that nobody wants to know how much room there is (RoomReader).
	NoRoom bool
}

// Server is a measured server: a goroutine with a connection, and another one of each for its statements where
// those are read apart (ApartReader).
type Server struct {
	Config
	home   Home
	reader Reader
	counts counts

	target    servers.Target
	line      Line
	next      time.Time        // when the next round is due
	failures  int              // to connect, in a row
	outage    outage           // since the connection was lost
	attempted time.Time        // when the last attempt to connect began
	opened    time.Time        // when the connection was made
	identity  servers.Identity // of the server that answered
	answered  time.Time        // when it was last said, or noted to be said, that the server answers
	outcomes  map[string]error // how the parts of this turn went
	troubles  Troubles

	databases map[string]uuid.UUID    // ours, by name
	seen      []string                // the server's, sorted
	lacked    []snapshot.MissingGrant // at the last look at the sessions
	lacking   []snapshot.MissingGrant // of the whole server
	told      bool                    // lacking was kept

	counters      counters  // of the last look
	signs, listed time.Time // the last turns that were taken
	backups       time.Time // likewise, of backups
	roomed        time.Time // when the room was read last
	presents      certificate
	beside        supervise.Group // asks for the certificate
	known         bool            // counted and last are
	counted       *time.Time      // until when statements are, as far as we know
	last          *List           // their counters then; nil: no basis yet
	pending       *List           // an interval that may have been counted: its outcome is unknown
	resets        resets          // of the statistics, of late

	textsAfter time.Time // texts are not asked for before

	// waiting says of each class of locks (0: the engine's, 1: advisory ones) that the home does
	// not know that nobody waits: as somebody did, or nothing was said yet.
	waiting [2]bool
	roots   [2]*blocking.Node // of the last looks at which somebody waited
	stands  standing
	rest    rest

	failing map[string]bool // databases whose statements alone could not be read

	telling sync.Mutex // of lacked, lacking, told and counts.lacking

	mu     sync.Mutex // of what else both goroutines use
	left   *handover
	lately *List         // that was counted last
	met    chan struct{} // closed once something is left
	meet   func()
}

// New returns a server; Run measures it.
func New(c Config) *Server {
	s := &Server{Config: c, home: c.Home, reader: c.Engine.NewReader(), outcomes: map[string]error{}, waiting: [2]bool{true, true}}
	s.troubles = Troubles{Log: c.Log, Fails: "a server cannot be measured, or not all of it", Works: "a server is measured again", Unnamed: c.Unnamed}
	s.line.open = s.openIn
	s.met = make(chan struct{})
	s.meet = sync.OnceFunc(func() { close(s.met) })
	s.counts = newCounts(s)
	return s
}

// Run measures until ctx ends or the server is not ours any more, the first time at once.
func (s *Server) Run(ctx context.Context) {
	defer s.Close(ctx)
	if s.counts.apart {
		s.home = &oneAtATime{home: s.home}
		var counting supervise.Group
		defer counting.Join() // a panic of the one continues in the other, whose caller starts both again
		both, end := context.WithCancel(ctx)
		defer end()
		ctx = both
		counting.Go(func() error {
			defer end()
			s.runApart(both)
			return nil
		})
	}
	for ctx.Err() == nil {
		err := s.turn(ctx)
		if lease.IsLost(ctx, err) {
			return
		}
		s.say(ctx, err)
		if pause.For(ctx, s.wait()) != nil {
			return
		}
	}
}

// turn is a round, or between two rounds a look whether the server still answers.
func (s *Server) turn(ctx context.Context) error {
	if now := s.Now(); s.rest.rests(now) {
		return s.report(ctx, s.resting())
	} else if !s.rest.since.IsZero() {
		s.rest = rest{waking: instant.Cut(now)}
	}
	const early = 100 * time.Millisecond // a timer may be
	if s.next.Sub(s.Now()) > early && s.connects() {
		if s.Engine.SessionsEvery <= checkEvery { // the clock was set back, or stands still
			return nil
		}
		return s.check(ctx)
	}
	every := s.Engine.SessionsEvery
	defer func() { s.next = s.Now().Add(untilTurn(s.Now(), every, phaseOf(s.Instance)%every)) }()
	err := s.round(ctx, !s.counts.apart)
	if s.rest.due(s.Now()) && s.connects() {
		return errors.Join(err, s.leaveAlone(ctx))
	}
	return err
}

// connects says whether there is a connection, as far as is known.
func (s *Server) connects() bool { return s.failures == 0 && s.line.Session != nil && !s.line.Closed() }

// wait is how long it is to the next turn. A connection that was lost is opened again at
// once: whether the server is down is known then.
func (s *Server) wait() time.Duration {
	if now := s.Now(); s.rest.rests(now) {
		return min(s.rest.until.Sub(now), tellEvery)
	}
	if s.failures > 0 || s.line.Session != nil && s.line.Closed() {
		return backoff(s.failures)
	}
	return min(max(s.next.Sub(s.Now()), 0), checkEvery)
}

// went notes the result of a part of this turn, and returns its error. A failure that lost the
// connection counts as the connection's.
func (s *Server) went(part string, err error) error {
	if err != nil && s.line.Session != nil && s.line.Closed() {
		part = connection
	}
	s.outcomes[part] = err
	return err
}

// say logs which parts fail and which work again, each once.
func (s *Server) say(ctx context.Context, err error) { logOutcomes(ctx, s.outcomes, &s.troubles, err) }

func logOutcomes(ctx context.Context, outcomes map[string]error, troubles *Troubles, err error) {
	known := false
	for _, part := range slices.Sorted(maps.Keys(outcomes)) {
		troubles.Note(ctx, part, outcomes[part])
		known = known || outcomes[part] != nil
	}
	if !known { // the other failure is that the samples could not be stored
		troubles.Note(ctx, "keeping", err)
	}
	clear(outcomes)
}

// Round takes what is due. Each part of it that cannot be read is missing, and none of
// the others with it.
func (s *Server) Round(ctx context.Context) error { return s.round(ctx, true) }

// round is Round, of the statements too or without them.
func (s *Server) round(ctx context.Context, all bool) error {
	before := s.opened
	if err := s.went(connection, s.connect(ctx)); err != nil {
		s.leave(nil, time.Time{})
		return err
	}
	at := instant.Cut(s.Now())
	s.answered = at
	s.named()
	a, err := s.reader.Activity(ctx, &s.line)
	if s.went(string(status.Sessions), err) != nil {
		s.rest.idle = time.Time{} // who is there is not known
		s.note(err)
		if s.line.Closed() {
			s.leave(nil, time.Time{})
		}
		outcomes := s.unread(at, err)
		if !s.opened.Equal(before) {
			outcomes = append(outcomes, s.connected(s.opened)) // it let us in
		}
		err = errors.Join(err, s.tell(ctx, s.reader, &s.lacked), s.report(ctx, outcomes...)) // it may be a grant that is missing
		if all && s.counts.apart {
			err = errors.Join(err, s.countApart(ctx))
		}
		return err
	}
	_ = s.went(string(status.Sessions), a.Trouble)
	if err := s.reportSlow(ctx); err != nil {
		return err
	}
	phase := phaseOf(s.Instance)
	minute, period := turn(at, signsEvery, phase), turn(at, s.Engine.StatementsEvery, phase)
	minutely, counts := !minute.Equal(s.signs), !period.Equal(s.listed)
	if err := s.discover(ctx, a, minutely); err != nil {
		return err
	}
	s.leave(a, at)
	s.notice(ctx, a, at)
	var deadlocks []blocking.Sample
	var deadlocksErr error
	if minutely {
		deadlocks, deadlocksErr = s.readDeadlocks(ctx, a, at)
	}
	batch := measurements.Batch{
		Organization: s.Organization, Sessions: a.samples(s.Engine, s.Instance, s.databases, at),
		Reached: []measurements.Reached{s.connected(at), s.part(status.Sessions, at, a.Trouble)},
	}
	s.signs, s.listed = minute, period
	if minutely {
		batch.Reached = append(batch.Reached, s.part(status.Databases, at, nil))
	}
	var blockingErr error
	batch.Blocking, blockingErr = s.readBlocking(ctx, a)
	batch.Blocking = append(batch.Blocking, deadlocks...)
	var signs []watch.Sign
	var signsErr error
	if minutely {
		signs, signsErr = s.readSigns(ctx, at)
		if s.went("signs", signsErr) == nil {
			signsErr = s.reportSlow(ctx)
		}
		var figuresErr error
		if batch.Servers, figuresErr = s.readFigures(ctx, a, at); figuresErr == nil {
			figuresErr = s.reportSlow(ctx)
		}
		signsErr = errors.Join(signsErr, figuresErr)
	}
	var replicationErr, backupsErr error
	if minutely {
		var roomErr error
		batch.Replication, replicationErr = s.readReplication(ctx)
		batch.Room, roomErr = s.readRoom(ctx, at)
		replicationErr = errors.Join(replicationErr, roomErr)
	}
	if due := turn(at, backupsEvery, phase); !due.Equal(s.backups) {
		batch.Backups, backupsErr = s.readBackups(ctx)
		s.backups = due
	}
	signsErr = errors.Join(a.Trouble, signsErr, replicationErr, backupsErr)
	if s.counts.apart {
		signsErr = errors.Join(signsErr, s.tell(ctx, s.reader, &s.lacked))
	}
	if !counts || !all {
		return errors.Join(deadlocksErr, blockingErr, signsErr, s.kept(batch, s.home.Record(ctx, batch, signs)))
	}
	return errors.Join(deadlocksErr, blockingErr, signsErr, s.countStatements(ctx, batch, s.handed(), at, signs))
}

// readBlocking reads who waits for whom, if a session waits for a lock. That nobody waits is said
// once of each class, after somebody did, so that the episode ends.
func (s *Server) readBlocking(ctx context.Context, a *Activity) ([]blocking.Sample, error) {
	interval := s.Engine.SessionsEvery
	if s.stands.skipped {
		interval *= 2
	}
	look, err := s.lookAtBlocking(ctx, a)
	if s.went("blocking", err) != nil || !a.SeesAll || s.stands.skipped {
		return nil, err
	}
	var out []blocking.Sample
	for class, sample := range look.Samples(s.Instance, interval) {
		if roots := blocking.Roots(sample.Nodes); len(roots) > 0 {
			s.roots[class] = &roots[0].Node
		} else if root := s.roots[class]; root != nil && s.waiting[class] {
			// What cannot be read is not known, and no reason to lose that nobody waits.
			sample.End, err = s.reader.Freed(ctx, &s.line, *root, sample.At)
			if err != nil {
				_ = s.went("blocking", err)
			}
		}
		if len(sample.Nodes) > 0 || s.waiting[class] {
			out = append(out, sample)
		}
	}
	return append(out, look.Circles(s.Instance, interval)...), nil
}

// readDeadlocks has the databases' deadlocks counted where that takes a query of its own.
func (s *Server) readDeadlocks(ctx context.Context, a *Activity, at time.Time) ([]blocking.Sample, error) {
	reader, counts := s.reader.(DeadlockReader)
	if !counts || !a.SeesAll {
		return nil, nil
	}
	texts, err := s.home.KeepsTexts(ctx)
	if err != nil {
		return nil, s.went("deadlocks", err)
	}
	found, err := reader.Deadlocks(ctx, &s.line, a, at, texts)
	for i := range found {
		found[i].Instance, found[i].Interval = s.Instance, signsEvery
	}
	return found, s.went("deadlocks", err)
}

// lookAtBlocking asks who waits for whom, unless that stands as it was (standing).
func (s *Server) lookAtBlocking(ctx context.Context, a *Activity) (*blocking.Look, error) {
	at := instant.Cut(s.Now())
	if !a.SeesAll || !a.Locked {
		s.stands = standing{}
		return &blocking.Look{At: at}, nil
	}
	texts, err := s.home.KeepsTexts(ctx)
	if err != nil {
		s.stands = standing{}
		return nil, err
	}
	if s.stands.skips(s.Engine.SessionsEvery, a.lockWaits(s.Engine.Name, texts)) {
		return nil, nil
	}
	look, err := s.reader.Blocking(ctx, &s.line, at, texts)
	if err != nil {
		s.stands = standing{}
		return nil, err
	}
	s.stands.answered(look)
	return look, nil
}

// kept notes what the home knows of who waits, if it kept a batch.
func (s *Server) kept(b measurements.Batch, err error) error {
	if err != nil {
		s.stands = standing{} // the next look asks
	}
	for class := range s.waiting {
		for _, sample := range b.Blocking {
			if sample.Deadlock == nil && sample.Advisory == (class == 1) {
				if s.waiting[class] = err != nil || len(sample.Nodes) > 0; !s.waiting[class] {
					s.roots[class] = nil
				}
			}
		}
	}
	return err
}

func (s *Server) readSigns(ctx context.Context, at time.Time) ([]watch.Sign, error) {
	signs, err := s.reader.Signs(ctx, &s.line)
	if end, known := s.certificateEnd(ctx, at); known {
		signs = append(signs, watch.Sign{Rule: watch.Certificate, Value: max(end.Sub(at).Hours()/24, 0)})
	}
	for i := range signs {
		signs[i].OrganizationID, signs[i].InstanceID, signs[i].At = s.Organization, s.Instance, at
	}
	return signs, err
}

// readReplication reads who follows whom. What cannot be read is missing, and nothing else with it.
func (s *Server) readReplication(ctx context.Context) ([]replication.State, error) {
	state, err := s.reader.Replication(ctx, &s.line, instant.Cut(s.Now()))
	if s.went("replication", err) != nil || state == nil {
		return nil, err
	}
	state.Instance, state.Engine = s.Instance, s.Engine.Name
	return []replication.State{*state}, nil
}

// readBackups reads which backups there are. What cannot be read is missing, and nothing else with it.
func (s *Server) readBackups(ctx context.Context) ([]backups.Look, error) {
	reader, tells := s.reader.(BackupReader)
	if !tells {
		return nil, nil
	}
	look, err := reader.Backups(ctx, &s.line, instant.Cut(s.Now()))
	if s.went("backups", err) != nil || look == nil {
		return nil, err
	}
	look.Instance = s.Instance
	look.Resolve(s.databases)
	return []backups.Look{*look}, nil
}

// readRoom reads how much room there is, once an hour. What could be read comes with the error of the rest.
func (s *Server) readRoom(ctx context.Context, at time.Time) ([]room.State, error) {
	reader, tells := s.reader.(RoomReader)
	if s.NoRoom || !tells || at.Sub(s.roomed).Abs() < room.Every {
		return nil, nil
	}
	s.roomed = at
	state, err := reader.Room(ctx, &s.line, at)
	_ = s.went("room", err)
	if state == nil {
		return nil, err
	}
	state.Instance, state.Engine = s.Instance, s.Engine.Name
	return []room.State{*state}, err
}

// connect opens the connection if there is none. One that breaks in the middle of a round stays
// until the next: the rest of the round fails on it.
func (s *Server) connect(ctx context.Context) (err error) {
	if s.line.Session != nil && !s.line.Closed() {
		return nil
	}
	if s.target, err = s.home.Target(ctx); err != nil {
		return err
	}
	begins := s.outage.since.IsZero()
	if begins {
		s.outage.since = instant.Cut(s.Now())
	}
	session, err := s.openIn(ctx, cmp.Or(s.line.database, s.target.Database))
	if err != nil {
		s.leave(nil, time.Time{})
		s.line.Session = nil
		s.failures++
		if s.overslept() {
			if begins {
				s.outage = outage{}
			}
			return err
		}
		var refused *servers.ConnectionError
		if errors.As(err, &refused) && refused.Class == servers.ClassDatabase {
			s.line.database = "" // it is gone: a reader's place may be elsewhere
		}
		if refused != nil {
			said, wakes := s.wakes(refused)
			if !wakes {
				said = s.refused(refused)
			}
			err = errors.Join(err, s.report(ctx, said))
		}
		if refused != nil && refused.Class == servers.ClassNotAllowed && s.failures == 1 {
			err = errors.Join(err, s.home.Excluded(ctx))
		}
		return err
	}
	s.line.Session, s.opened = session, instant.Cut(s.Now())
	if s.opened.Sub(s.attempted) >= slow { // and so may be what follows
		err = s.report(ctx, s.connected(s.opened))
	}
	if s.failures > 0 {
		err = errors.Join(err, s.home.Returned(ctx))
	}
	lost := s.outage.since
	s.failures, s.outage = 0, outage{}
	return errors.Join(err, s.identify(ctx, lost))
}

// identify tells who answers on a new connection, and that the server was started again since
// the last one was lost. What breaks it shows in the round.
func (s *Server) identify(ctx context.Context, lost time.Time) error {
	if s.Identified == nil {
		return nil
	}
	is, err := s.target.Identify(ctx, s.line.Session)
	if err != nil || is.Process == "" {
		return nil //nolint:nilerr // see above
	}
	before := s.identity.Process
	s.identity = is
	if before != "" && before != is.Process && is.Dated() {
		err = s.report(ctx, s.restarted(lost, s.opened.Add(time.Microsecond)))
	}
	return errors.Join(err, s.Identified(ctx, is))
}

// openIn connects to a database, when it is our turn to.
func (s *Server) openIn(ctx context.Context, database string) (servers.Session, error) {
	return s.openAt(ctx, s.target, database, func() { s.attempted = instant.Cut(s.Now()) })
}

// openAt opens a connection to a target, and says when it is let through the gate.
func (s *Server) openAt(ctx context.Context, target servers.Target, database string, begins func()) (servers.Session, error) {
	next, err := s.Gate.pass(ctx, s.Organization)
	if err != nil {
		return nil, err
	}
	defer next()
	begins()
	if s.Open != nil {
		return s.Open(ctx, target, database)
	}
	return target.Open(ctx, database, StatementTimeout)
}

// Close gives the connection up.
func (s *Server) Close(ctx context.Context) {
	if s.presents.stop != nil {
		s.presents.stop()
	}
	s.Settle()
	if s.line.Session != nil {
		s.line.Close(ctx)
		s.line.Session = nil
	}
	s.closeApart(ctx)
}

// discover makes the databases known that are there, and no others.
func (s *Server) discover(ctx context.Context, a *Activity, again bool) error {
	names := a.Names()
	slices.Sort(names)
	if !again && slices.Equal(names, s.seen) {
		return nil
	}
	known, err := s.home.Databases(ctx, names)
	var rule *usecase.RuleError
	if errors.As(err, &rule) {
		_ = s.went(string(status.Databases), err) // of a name that is too long for the lists
	} else if s.went(string(status.Databases), err) != nil {
		return err
	}
	s.databases, s.seen = maps.Clone(known), names
	return nil
}

// tell records what our account may not read, as a reader found it, if that differs from the known state. Of two readers
// of a server, it is what either found last.
func (s *Server) tell(ctx context.Context, by Reader, found *[]snapshot.MissingGrant) error {
	lacking, ok := by.Missing()
	if !ok {
		return nil
	}
	s.telling.Lock() // not mu, for a home may take long
	defer s.telling.Unlock()
	*found = lacking
	same := func(x, y snapshot.MissingGrant) bool { return x.Statement == y.Statement && x.Object == y.Object }
	all := slices.Clone(s.lacked)
	for _, grant := range s.counts.lacking {
		if !slices.ContainsFunc(all, func(g snapshot.MissingGrant) bool { return same(g, grant) }) {
			all = append(all, grant)
		}
	}
	if s.told && slices.EqualFunc(all, s.lacking, same) {
		return nil
	}
	if err := s.home.Lacks(ctx, append([]snapshot.MissingGrant{}, all...)); err != nil {
		return err
	}
	s.lacking, s.told = all, true
	return nil
}
