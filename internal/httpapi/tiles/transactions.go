package tiles

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	projected "muster/projections/fleet"
)

const (
	// mostTemporary is of how many databases the temporary bytes are shown.
	mostTemporary = 10
	// millisecond: shown ages are seconds, and stored ones milliseconds.
	millisecond = 1000
)

// figureWords are the figures as sentences have them.
var figureWords = map[measurements.Figure]string{
	measurements.OldestTransaction: "the age of transactions", measurements.OldestIdle: "the time that sessions are idle in a transaction",
	measurements.TemporaryBytes: "the bytes written to temporary files", measurements.TemporaryFiles: "the number of temporary files",
	measurements.TemporaryUsed: "the temporary space in use", measurements.CheckpointsTimed: "scheduled checkpoints",
	measurements.CheckpointsAsked: "requested checkpoints", measurements.CheckpointWriting: "the write time of checkpoints",
	measurements.CheckpointSyncing: "the sync time of checkpoints", measurements.CheckpointBuffers: "the pages written by checkpoints",
	measurements.NewConnections: "new connections",
}

// GetInstanceTransactions answers what a server tells about itself.
func (s *TileRoutes) GetInstanceTransactions(ctx context.Context, r api.GetInstanceTransactionsRequestObject) (api.GetInstanceTransactionsResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	w, broken := wire.WindowAt(s.Now(), r.Params.From, r.Params.To, r.Params.BucketSize)
	if rules := wire.BrokenRules(broken); rules != nil {
		return nil, rules
	}
	of, known, err := s.Fleet.Instance(ctx, organization, r.InstanceId)
	if err := wire.Found(known && wire.Sees(ctx, r.InstanceId), err, "instance"); err != nil {
		return nil, err
	}
	figures, err := s.Tiles.Store.ServerFigures(ctx, organization, of.Engine, of.ID, w.Window)
	if err != nil {
		return nil, notKept(err)
	}
	t := transactions{instance: of.ID, engine: of.Engine, figures: figures, starts: w.Starts()}
	var side wire.Side
	if err := t.name(ctx, s, organization, &side); err != nil {
		return nil, err
	}
	answer := api.InstanceTransactions{
		From: w.Start(), To: w.End(), BucketSize: r.Params.BucketSize, BucketStarts: t.starts, LastBucketPartial: w.LastIsPartial(), GeneratedAt: w.Now,
		Figures: wire.List(measurements.WithoutReplication(), t.figure), Databases: t.databases(), Series: map[string]api.Values{}, Unavailable: side.Unavailable(),
	}
	for _, of := range measurements.WithoutReplication() {
		answer.Series[string(of)] = t.values(of)
	}
	steady := answer
	steady.GeneratedAt = time.Time{}
	tagged, err := wire.NewTagged(ctx, answer, steady)
	return transactionsAnswer{tagged}, err
}

type transactionsAnswer struct{ wire.Tagged }

func (a transactionsAnswer) VisitGetInstanceTransactionsResponse(w http.ResponseWriter) error {
	return a.Write(w)
}

// transactions are the figures of an instance while they are shown.
type transactions struct {
	instance uuid.UUID
	engine   fleet.Engine
	figures  measurements.ServerFigures
	starts   []time.Time

	names      map[uuid.UUID]projected.Named
	people     map[measurements.Dimension]map[uint64]string
	statements map[uuid.UUID]measurements.NamedStatement
}

// shown are the holders of the moments that are shown.
func (t *transactions) shown() (all []*measurements.HolderSeen) {
	for _, of := range measurements.WithoutReplication() {
		for _, at := range []int{t.latest(of), t.greatest(of)} {
			if at >= 0 {
				if h := t.figures[measurements.FigureOf{Figure: of}].Holders[at]; h != nil {
					all = append(all, h)
				}
			}
		}
	}
	return all
}

// name looks up the names of databases, people and statements.
func (t *transactions) name(ctx context.Context, s *TileRoutes, organization uuid.UUID, side *wire.Side) (err error) {
	var ids, statements []uuid.UUID
	for of := range t.figures {
		if of.Database != uuid.Nil {
			ids = append(ids, of.Database)
		}
	}
	hashes := map[measurements.Dimension][]uint64{}
	for _, h := range t.shown() {
		ids = append(ids, h.Database)
		if h.Statement != 0 {
			statements = append(statements, measurements.StatementID(t.instance, h.Statement))
		}
		for of, hash := range map[measurements.Dimension]uint64{measurements.DimUser: h.User, measurements.DimApplication: h.Application, measurements.DimClient: h.Client} {
			if hash != 0 {
				hashes[of] = append(hashes[of], hash)
			}
		}
	}
	if t.names, err = s.Fleet.Names(ctx, organization, ids); err != nil || wire.HidesPeople(ctx) {
		return err
	}
	t.people = map[measurements.Dimension]map[uint64]string{}
	for of, some := range hashes {
		t.people[of], err = s.Tiles.Store.Names(ctx, organization, of, some)
		side.Lacks(ctx, err, "figures."+string(of))
	}
	if len(statements) > 0 {
		t.statements, err = s.Tiles.Store.NameStatements(ctx, organization, statements)
		side.Lacks(ctx, err, "figures.statement.text")
	}
	return nil
}

// values are those of the whole server, as they are shown.
func (t *transactions) values(of measurements.Figure) measurements.Values {
	line := t.figures[measurements.FigureOf{Figure: of}]
	if line == nil {
		return measurements.Gaps(len(t.starts))
	}
	if of != measurements.OldestTransaction && of != measurements.OldestIdle {
		return line.Values
	}
	values := slices.Clone(line.Values)
	for i := range values {
		values[i] /= millisecond
	}
	return values
}

// latest is the last bucket with a value, and greatest the one with the greatest; -1: there is none.
func (t *transactions) latest(of measurements.Figure) int {
	at := -1
	for i, v := range t.values(of) {
		if !math.IsNaN(v) {
			at = i
		}
	}
	return at
}

func (t *transactions) greatest(of measurements.Figure) int {
	at, values := -1, t.values(of)
	for i, v := range values {
		if !math.IsNaN(v) && (at < 0 || v > values[at]) {
			at = i
		}
	}
	return at
}

// figure is one as it is told at the end of the window.
func (t *transactions) figure(of measurements.Figure) api.TransactionFigure {
	f := api.TransactionFigure{Figure: api.ServerFigure(of), State: api.FigureNotMeasured, Latest: t.moment(of, t.latest(of)), Greatest: t.moment(of, t.greatest(of))}
	told := measurements.Telling("")
	if line := t.figures[measurements.FigureOf{Figure: of}]; line != nil {
		for i, at := range line.Told {
			switch {
			case at == "" || at == told:
			case told == "":
				told = at
			default:
				told, f.Since = at, wire.UTC(&t.starts[i])
			}
		}
		f.State = api.FigureState(told)
	}
	switch told {
	case measurements.Told:
	case measurements.NotTold:
		f.Sentence = wire.Optional(fmt.Sprintf("%s does not report %s.", engine.Described(string(t.engine)).Title, figureWords[of]))
	case measurements.Denied:
		f.Sentence = wire.Optional(fmt.Sprintf("Muster's account may not read %s.", figureWords[of]))
	default:
		f.Sentence = wire.Optional(fmt.Sprintf("No sample in this window has %s.", figureWords[of]))
	}
	return f
}

func (t *transactions) moment(of measurements.Figure, at int) *api.TransactionMoment {
	if at < 0 {
		return nil
	}
	return &api.TransactionMoment{At: t.starts[at], Value: *wire.Rounded(t.values(of)[at], wire.Thousandths), Holder: t.holder(t.figures[measurements.FigureOf{Figure: of}].Holders[at])}
}

func (t *transactions) holder(h *measurements.HolderSeen) *api.TransactionHolder {
	if h == nil {
		return nil
	}
	shown := &api.TransactionHolder{
		Session: h.Session, State: api.ActivityState(h.State), User: wire.Optional(t.people[measurements.DimUser][h.User]),
		Application: wire.Optional(t.people[measurements.DimApplication][h.Application]), Client: wire.Optional(t.people[measurements.DimClient][h.Client]),
	}
	if h.Database != uuid.Nil {
		shown.Database = &api.ContributingDatabase{Id: h.Database, Name: t.names[h.Database].Name}
	}
	if h.Statement != 0 {
		id := measurements.StatementID(t.instance, h.Statement)
		shown.Statement = &api.ContributingStatement{Id: id, Text: wire.Optional(t.statements[id].Text)}
	}
	return shown
}

// databases are those that wrote most to temporary files.
func (t *transactions) databases() []api.TemporaryBytesOfDatabase {
	all := []api.TemporaryBytesOfDatabase{}
	for of, line := range t.figures {
		if of.Database == uuid.Nil || of.Figure != measurements.TemporaryBytes {
			continue
		}
		if average := wire.Rounded(line.Values.Average(), wire.Thousandths); average != nil {
			all = append(all, api.TemporaryBytesOfDatabase{Database: api.ContributingDatabase{Id: of.Database, Name: t.names[of.Database].Name}, Average: *average, Values: line.Values})
		}
	}
	slices.SortFunc(all, func(a, b api.TemporaryBytesOfDatabase) int {
		return cmp.Or(cmp.Compare(b.Average, a.Average), cmp.Compare(a.Database.Id.String(), b.Database.Id.String()))
	})
	return all[:min(len(all), mostTemporary)]
}
