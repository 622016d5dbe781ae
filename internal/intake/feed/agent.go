package feed

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/intake"
	"muster/internal/intake/heartbeat"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/watch"
)

// AgentItem is what an agent says of itself and of the servers that it measures, as
// openapi.yaml has it.
type AgentItem struct {
	Sender, Name, Version, Host string
	At                          time.Time
	Buffer                      heartbeat.Buffer
	Loops                       []heartbeat.Loop
	Servers                     []AgentServerItem
}

// AgentServerItem is what it says of one.
type AgentServerItem struct {
	Instance string
	Error    *heartbeat.Failure
	Missing  []string               // objects
	Ignored  []string               // the statements beside them, of agents of earlier versions
	Signs    []watch.Sign           // without the instance
	Failing  []measurements.Reached // parts, without the instance
	Identity *servers.Identity
}

// Heartbeats keeps what agents say; *heartbeat.Store does.
type Heartbeats interface {
	Keep(ctx context.Context, r heartbeat.Report) error
}

// Servers keeps which servers answer for instances; *assessment.Store does.
type Servers interface {
	// AgentSawServers gets the token of the report if it is limited, otherwise uuid.Nil.
	AgentSawServers(ctx context.Context, organization, by uuid.UUID, seen map[uuid.UUID]servers.Identity) error
}

// Bounds of what an agent says.
const (
	maxSystem      = 200
	maxProcess     = 200
	maxAgentName   = 200
	maxAgentGrants = 100
	maxAgentLoops  = 100
	maxLoop        = 300
	maxGrant       = 4000
	maxClass       = 100
	maxSigns       = 300
	maxSignDetail  = 2000
	maxDropped     = 20 // reasons
)

// TakeAgent keeps how an agent is in the place of what it said before. Of an instance that
// is not known, or beyond the token's limit, nothing is kept. Error: *usecase.RuleError.
func (d *Doors) TakeAgent(ctx context.Context, from intake.Caller, item AgentItem) error {
	r := rules{latest: d.Now().Add(maxSampleAhead)}
	r.agent(item)
	if len(r.broken) > 0 {
		return r.err()
	}
	names := make([]inventory.PlaceName, len(item.Servers))
	for i := range item.Servers {
		names[i].Instance = &item.Servers[i].Instance
	}
	places, err := d.Places.FindPlaces(ctx, from.OrganizationID, names)
	if err != nil {
		return err
	}
	allowed := func(id uuid.UUID) bool { return id != uuid.Nil && from.Limit.Allows(id) }
	if err := d.holdEngines(ctx, from, item, places, allowed); err != nil {
		return err
	}
	report := heartbeat.Report{
		Organization: from.OrganizationID, Token: from.Token, Sender: item.Sender, Name: item.Name, Version: item.Version, Host: item.Host, Buffer: item.Buffer, Loops: item.Loops,
	}
	batch := measurements.Batch{Organization: from.OrganizationID, Token: from.Token, Sender: &item.Sender}
	var signs []watch.Sign
	answer := map[uuid.UUID]servers.Identity{}
	for i, one := range item.Servers {
		id := places[i].Instance
		if !allowed(id) {
			continue
		}
		if one.Identity != nil {
			answer[id] = *one.Identity
		}
		report.Instances = append(report.Instances, heartbeat.Instance{ID: id, Error: one.Error, Missing: one.Missing})
		if e := one.Error; e != nil { // that it is reached its samples say
			batch.Reached = append(batch.Reached, measurements.Reached{
				Instance: id, At: d.Now(), Since: e.At, Code: e.Class, Sentence: e.Detail,
			})
		}
		for _, part := range one.Failing {
			part.Instance = id
			batch.Reached = append(batch.Reached, part)
		}
		for _, sign := range one.Signs {
			sign.OrganizationID, sign.InstanceID = from.OrganizationID, id
			signs = append(signs, sign)
		}
	}
	if err := d.Heartbeats.Keep(ctx, report); err != nil {
		return err
	}
	var by uuid.UUID
	if from.Limit != nil {
		by = from.Token
	}
	if err := d.Servers.AgentSawServers(ctx, from.OrganizationID, by, answer); err != nil {
		return err
	}
	_, err = d.Store.Record(ctx, batch, signs...)
	return err
}

// holdEngines refuses that another engine than an instance's answers for it.
func (d *Doors) holdEngines(ctx context.Context, from intake.Caller, item AgentItem, places []inventory.Place, allowed func(uuid.UUID) bool) error {
	var asked []uuid.UUID
	for i, one := range item.Servers {
		if one.Identity != nil && allowed(places[i].Instance) {
			asked = append(asked, places[i].Instance)
		}
	}
	engines, err := d.Places.Fleet.Engines(ctx, from.OrganizationID, asked)
	if err != nil {
		return err
	}
	var r rules
	for i, one := range item.Servers {
		if is, there := engines[places[i].Instance]; there && one.Identity != nil && one.Identity.Engine != is {
			r.breaks("#/servers/"+strconv.Itoa(i)+"/identity/engine", "engine_fixed", "of this instance is "+string(is)+" and never changes")
		}
	}
	if len(r.broken) > 0 {
		return r.err()
	}
	return nil
}

func (r *rules) agent(item AgentItem) {
	r.words("#/name", item.Name, 1, maxAgentName)
	r.words("#/version", item.Version, 0, maxAgentName)
	r.words("#/host", item.Host, 0, maxHostName)
	r.time("#/at", item.At)
	r.loops(item.Loops)
	r.dropped(item.Buffer.Dropped)
	seen := make(map[string]bool, len(item.Servers))
	for i, one := range item.Servers {
		at := "#/servers/" + strconv.Itoa(i)
		if seen[one.Instance] {
			r.breaks(at+"/instance", "duplicate_key", "is in this list twice")
		}
		seen[one.Instance] = true
		r.words(at+"/instance", one.Instance, 0, maxKey)
		if one.Error != nil {
			r.words(at+"/error/class", one.Error.Class, 1, maxClass)
			r.words(at+"/error/detail", one.Error.Detail, 0, maxWords)
			r.time(at+"/error/at", one.Error.At)
		}
		if one.Identity != nil {
			r.words(at+"/identity/system", one.Identity.System, 0, maxSystem)
			r.words(at+"/identity/process", one.Identity.Process, 1, maxProcess)
		}
		if !r.atMost(at+"/missingGrants", len(one.Missing), maxAgentGrants) {
			continue
		}
		for j, object := range one.Missing {
			r.words(at+"/missingGrants/"+strconv.Itoa(j)+"/object", object, 1, maxWords)
		}
		for j, statement := range one.Ignored {
			if n := utf8.RuneCountInString(statement); n > maxGrant {
				r.breaks(at+"/missingGrants/"+strconv.Itoa(j)+"/statement", "out_of_range", fmt.Sprintf("must be at most %d characters", maxGrant))
			}
		}
		r.failing(at+"/failing", one.Failing)
		if r.atMost(at+"/signs", len(one.Signs), maxSigns) {
			r.signs(at+"/signs/", one.Signs)
		}
	}
}

// maxFailing is how many parts an agent says fail: those of a server, and of 50 databases.
const maxFailing = 60

func (r *rules) failing(at string, parts []measurements.Reached) {
	if !r.atMost(at, len(parts), maxFailing) {
		return
	}
	for i, part := range parts {
		at := at + "/" + strconv.Itoa(i)
		r.words(at+"/code", part.Code, 1, maxClass)
		r.words(at+"/sentence", part.Sentence, 0, maxWords)
		r.words(at+"/database", part.Database, 0, maxSystem)
		r.time(at+"/since", part.Since)
		r.time(at+"/at", part.At)
	}
}

func (r *rules) signs(at string, signs []watch.Sign) {
	for i, sign := range signs {
		at := at + strconv.Itoa(i)
		r.time(at+"/at", sign.At)
		for _, detail := range [...]struct{ name, text string }{ // names of a server's: the watch cleans them
			{"kind", sign.Details.Kind}, {"object", sign.Details.Object}, {"session", sign.Details.Session},
			{"holder", sign.Details.Holder}, {"database", sign.Details.Database},
		} {
			if utf8.RuneCountInString(detail.text) > maxSignDetail {
				r.breaks(at+"/details/"+detail.name, "out_of_range", fmt.Sprintf("must be at most %d characters", maxSignDetail))
			}
		}
	}
}

// reason is why an agent dropped measurements.
var reason = regexp.MustCompile(`^[a-z_]{1,40}$`)

func (r *rules) dropped(byReason map[string]int64) {
	if !r.atMost("#/buffer/dropped", len(byReason), maxDropped) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(byReason)) {
		pointer := "#/buffer/dropped/" + rule.Escape(name)
		if !reason.MatchString(name) {
			r.breaks(pointer, "invalid_name", "must be a name of "+reason.String())
		} else if byReason[name] < 0 {
			r.breaks(pointer, "out_of_range", "must be at least 0")
		}
	}
}

func (r *rules) loops(loops []heartbeat.Loop) {
	if !r.atMost("#/loops", len(loops), maxAgentLoops) {
		return
	}
	seen := make(map[string]bool, len(loops))
	for i, l := range loops {
		at := "#/loops/" + strconv.Itoa(i)
		r.words(at+"/loop", l.Loop, 1, maxLoop)
		r.time(at+"/lastAt", l.LastAt)
		if seen[l.Loop] {
			r.breaks(at+"/loop", "duplicate_key", "is in this list twice")
		}
		seen[l.Loop] = true
	}
}

// words are shown to people as they are.
func (r *rules) words(pointer, text string, least, most int) {
	switch n := utf8.RuneCountInString(text); {
	case n < least || n > most:
		r.breaks(pointer, "out_of_range", fmt.Sprintf("must be %d to %d characters", least, most))
	case printable.Clean(text) != text:
		r.breaks(pointer, "invalid_name", printable.Rule)
	}
}
