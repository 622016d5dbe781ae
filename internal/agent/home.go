package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/printable"
	"muster/internal/httpapi/api"
	"muster/internal/intake/measure"
	"muster/internal/intake/ownhost"
	"muster/internal/measurements"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
)

// watched is a server that the agent measures; it is the measure.Home of it.
type watched struct {
	Server
	agent *Agent
	id    uuid.UUID // of the instance, the agent's own: its phase and its databases follow from it

	mu      sync.Mutex
	state   serverState
	names   map[uuid.UUID]string // of the databases, by the agent's ids
	lacking []snapshot.MissingGrant
	answers *servers.Identity // who does; nil: that is not known
	system  string            // of who answered last; empty: it does not tell, or nobody did yet
	signs   map[signKey]watch.Sign
	trouble trouble
	failing map[string]measurements.Reached // parts that could not be measured, by part and database
}

// signKey is the subject of a sign.
type signKey struct {
	rule  watch.Rule
	mount string
}

// trouble is why a server cannot be measured; empty: it can.
type trouble struct {
	Class, Sentence string
	Since, At       time.Time // of the first attempt that failed, and of the last
}

// space is where the agent's own ids of instances and databases come from. The server
// does not see them.
var space = uuid.MustParse("8f6b0c1e-6d3f-5b0a-9c55-4d7573746572")

// Target is the server as its secrets are now.
func (w *watched) Target(context.Context) (servers.Target, error) {
	return w.agent.config.target(w.Server)
}

// Excluded does nothing: the author of the configuration decides where the agent connects.
func (w *watched) Excluded(context.Context) error { return nil }

// identified keeps who answers, until the next report.
func (w *watched) identified(_ context.Context, is servers.Identity) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers, w.system = &is, is.System
	return nil
}

// Returned does nothing: the agent assesses on its own time.
func (w *watched) Returned(context.Context) error { return nil }

// Databases tells the server of those that it does not have as they are. The error is a
// *usecase.RuleError where one has a name that the fleet does not take.
func (w *watched) Databases(_ context.Context, names []string) (map[string]uuid.UUID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fit := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isNameable(name) })
	if !slices.Equal(fit, slices.Sorted(maps.Keys(w.state.Databases))) {
		if err := w.announce(w.state.with(fit, w.agent.Now())); err != nil {
			return nil, err
		}
	}
	ids := make(map[string]uuid.UUID, len(fit))
	w.names = make(map[uuid.UUID]string, len(fit))
	for _, name := range fit {
		ids[name] = uuid.NewSHA1(w.id, []byte(name))
		w.names[ids[name]] = name
	}
	if n := len(names) - len(fit); n > 0 {
		return ids, &usecase.RuleError{Code: "invalid_name", Detail: fmt.Sprintf("%d databases are left out: a name must have at most 200 characters and %s.", n, printable.Rule)}
	}
	return ids, nil
}

// isNameable says whether the fleet accepts a name as a key (package commands). It would refuse
// a whole announcement because of one invalid name.
func isNameable(name string) bool {
	n := utf8.RuneCountInString(name)
	return n > 0 && n <= 200 && printable.Name(name)
}

// with is the state with these databases, and no others.
func (s serverState) with(names []string, at time.Time) *serverState {
	after := s
	after.Databases = make(map[string]time.Time, len(names))
	for _, name := range names {
		since, known := s.Databases[name]
		if !known {
			since = at
		}
		after.Databases[name] = since
	}
	gone := slices.AppendSeq(slices.Clone(s.Gone), maps.Keys(s.Databases))
	gone = slices.DeleteFunc(gone, func(name string) bool { _, there := after.Databases[name]; return there })
	slices.Sort(gone)
	after.Gone = slices.Compact(gone)
	return &after
}

// announce stores a state and the announcement of it for the server: the instance with all of
// its databases, and those that are gone.
func (w *watched) announce(after *serverState) error {
	fact, err := w.announcement(after)
	if err != nil {
		return err
	}
	if err := w.agent.store.keep(change{records: []record{fact}, server: w.ExternalID, state: after}); err != nil {
		return err
	}
	w.state = *after
	w.agent.wake()
	return nil
}

// announced deletes announcements that the server has. After the last one it knows which
// databases are gone.
func (w *watched) announced(records []record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.agent.store.sent(records); err != nil {
		return err
	}
	pending, err := w.agent.store.announcing(w.ExternalID)
	if err != nil || pending || len(w.state.Gone) == 0 {
		return err
	}
	after := w.state
	after.Gone = nil
	if err := w.agent.store.keep(change{server: w.ExternalID, state: &after}); err != nil {
		return err
	}
	w.state = after
	return nil
}

// announcement is the message for the server; the state remembers that it was made.
func (w *watched) announcement(after *serverState) (record, error) {
	item := api.FleetInstance{
		ExternalId: w.ExternalID, Name: w.Name, Engine: api.Engine(w.Engine), CreatedAt: after.CreatedAt.UTC(), Databases: &[]api.FleetDatabase{},
	}
	if version := cut(printable.Clean(after.Version), mostLabel); version != "" {
		item.Version = &version
	}
	machine, _ := ownhost.ThisMachine()
	if host := cut(printable.Clean(w.hostName(machine)), mostLabel); host != "" {
		item.Host = &host
	}
	if len(w.Tags) > 0 || after.Tagged { // a server from before there were tags refuses the member
		tags := api.Tags(w.Tags)
		if tags == nil {
			tags = api.Tags{}
		}
		item.Tags, after.Tagged = &tags, true
	}
	for _, name := range slices.Sorted(maps.Keys(after.Databases)) {
		*item.Databases = append(*item.Databases, api.FleetDatabase{ExternalId: name, Name: name, CreatedAt: after.Databases[name].UTC()})
	}
	told, err := marshal(item)
	if err != nil {
		return record{}, err
	}
	after.Announced = digest(told)
	removed := true
	for _, name := range after.Gone {
		*item.Databases = append(*item.Databases, api.FleetDatabase{ExternalId: name, Name: name, CreatedAt: after.CreatedAt.UTC(), Removed: &removed})
	}
	body, err := marshal(api.FleetBatch{Instances: []api.FleetInstance{item}})
	return record{Kind: fleetFact, Server: w.ExternalID, At: w.agent.Now(), Body: body}, err
}

// mostLabel bounds what the fleet shows of an instance, in characters.
const mostLabel = 255

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// hostName is where the server runs, asked from a machine.
func (w *watched) hostName(from ownhost.Machine) string {
	if w.HostName != "" {
		return w.HostName
	}
	target, err := w.agent.config.target(w.Server)
	switch {
	case err != nil:
		return ""
	case from.Has(target):
		return w.agent.host
	}
	return target.HostName()
}

// Lacks keeps them for the agent's report.
func (w *watched) Lacks(_ context.Context, grants []snapshot.MissingGrant) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lacking = grants
	return nil
}

// Record keeps samples until they are sent.
func (w *watched) Record(_ context.Context, b measurements.Batch, signs []watch.Sign) error {
	return w.keep(change{}, b, signs)
}

// Count keeps them with the list that the next one is compared with.
func (w *watched) Count(_ context.Context, _ *time.Time, now *measure.List, b measurements.Batch, signs []watch.Sign) error {
	return w.keep(change{basis: now}, b, signs)
}

func (w *watched) keep(c change, b measurements.Batch, signs []watch.Sign) error {
	w.reached(b.Reached)
	w.mu.Lock()
	for _, sign := range signs {
		w.signs[signKey{sign.Rule, sign.Mount}] = sign
	}
	names := w.names
	w.mu.Unlock()
	if b.Len() == 0 && len(b.Blocking)+len(b.Replication)+len(b.Backups)+len(b.Room) == 0 && c.basis == nil {
		return nil
	}
	records, err := recordsOf(w.ExternalID, b, names)
	if err != nil {
		return err
	}
	c.server, c.records = w.ExternalID, records
	if err := w.agent.store.keep(c); err != nil {
		return err
	}
	w.agent.wake()
	return nil
}

// CountedUntil is the time of the list that is kept: it is kept with its samples or not
// at all.
func (w *watched) CountedUntil(ctx context.Context) (*time.Time, error) {
	basis, err := w.Basis(ctx)
	if err != nil || basis == nil {
		return nil, err
	}
	return &basis.At, nil
}

// Basis is the list that is kept, whichever process kept it.
func (w *watched) Basis(context.Context) (*measure.List, error) {
	return w.agent.store.basis(w.ExternalID)
}

// KeepsTexts is what the configuration says.
func (w *watched) KeepsTexts(context.Context) (bool, error) { return w.agent.config.Texts, nil }

// recordsOf are the samples of a batch as the server takes them, by kind.
func recordsOf(server string, b measurements.Batch, names map[uuid.UUID]string) (records []record, err error) {
	add := func(k kind, at time.Time, items any) error {
		body, err := marshal(items)
		if err == nil {
			records = append(records, record{Kind: k, Server: server, At: at, Body: body})
		}
		return err
	}
	var of []api.SessionSample
	for _, s := range b.Sessions {
		of = append(of, sessionSample(server, names[s.Database], s))
	}
	if len(of) > 0 {
		if err := add(sessions, b.Sessions[0].At, of); err != nil {
			return nil, err
		}
	}
	for _, s := range b.Statements { // one a record: a call has room for the largest
		if err := add(statements, s.At, []api.StatementSample{statementSample(server, names[s.Database], s)}); err != nil {
			return nil, err
		}
	}
	for _, one := range b.Blocking {
		if err := add(blocks, one.At, []api.BlockingSample{blockingSample(server, one)}); err != nil {
			return nil, err
		}
	}
	for _, one := range b.Servers {
		if err := add(serverSamples, one.At, []api.ServerSample{serverSample(server, one, names)}); err != nil {
			return nil, err
		}
	}
	for _, one := range b.Replication {
		sample, err := replicationSample(server, one)
		if err == nil {
			err = add(replications, one.At, []api.ReplicationSample{sample})
		}
		if err != nil {
			return nil, err
		}
	}
	for _, one := range b.Backups {
		if err := add(backupLooks, one.At, []api.BackupLook{backupLook(server, one)}); err != nil {
			return nil, err
		}
	}
	for _, one := range b.Room {
		if err := add(roomLooks, one.At, []room.Sent{{Server: server, At: one.At.UTC(), State: one.Fit()}}); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// marshal does not escape < and >, which statements have.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}
