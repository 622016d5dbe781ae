package fleetfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/maintenance"
	"muster/commands/notifying"
	"muster/commands/objectives"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/servers"
	"muster/projections/exceptions"
	"muster/projections/fleet"
)

// State is what there is of an organization, as far as a file is compared with it.
type State struct {
	Settings   organization.Settings
	Instances  []Known
	Teams      []accounts.Team
	Channels   []notifying.ChannelRow
	Rules      []ruleRow
	Watch      accounts.WatchSettings
	Windows    []maintenance.Row
	Objectives objectives.Row
	People     map[string]uuid.UUID   // whom the file's teams and channels name, by address
	Exceptions []exceptions.Exception // in force, and those that are asked for
	// DatabaseNames are those of the databases that exceptions are about.
	DatabaseNames map[uuid.UUID]string
	Now           time.Time
}

// Known is an instance of the organization.
type Known struct {
	fleet.Instance
	Connected bool
	Classify  string
	DSN       string           // read where the file names the instance
	Sent      bool             // nothing connects to it, and a feed or an agent has lately sent what it found
	Databases []fleet.Database // read where an exception of the file names one
}

// Compare makes the plan that brings the organization to what the file declares, or
// returns what of the file cannot be. With prune, what a list of the file does not name
// is removed.
func Compare(f File, s State, prune bool) (*Plan, []Fault) {
	c := comparison{file: f, state: s, prune: prune, known: map[string]*Known{}, declared: map[string]*Instance{}}
	for i := range s.Instances {
		c.known[s.Instances[i].ExternalID] = &s.Instances[i]
	}
	for i := range f.Instances {
		c.declared[f.Instances[i].ExternalID] = &f.Instances[i]
	}
	c.plan.ids = map[string]uuid.UUID{}
	for key, k := range c.known {
		c.plan.ids[key] = k.ID
	}
	c.plan.teams, c.plan.channels = map[string]uuid.UUID{}, map[string]uuid.UUID{}
	for _, t := range s.Teams {
		c.plan.teams[strings.ToLower(t.Name)] = t.ID
	}
	for _, is := range s.Channels {
		c.plan.channels[strings.ToLower(is.Name)] = is.ID
	}
	c.settings()
	c.instances()
	c.teams()
	c.channels()
	c.rules()
	c.channelsLeft()
	c.watchRules()
	c.windows()
	c.objectives()
	c.exceptions()
	return &c.plan, c.faults
}

type comparison struct {
	file     File
	state    State
	prune    bool
	known    map[string]*Known
	declared map[string]*Instance
	plan     Plan
	faults   []Fault
}

func (c *comparison) settings() {
	change := c.file.Settings
	if change.Name != nil {
		name := strings.TrimSpace(*change.Name)
		change.Name = &name
	}
	is, events := c.state.Settings.Change(change)
	if len(events) == 0 {
		return
	}
	var d []Difference
	was := c.state.Settings
	text := func(field, before, after string) {
		if before != after {
			d = append(d, Difference{Field: field, Before: before, After: after})
		}
	}
	number := func(field string, before, after int) { text(field, strconv.Itoa(before), strconv.Itoa(after)) }
	text("name", was.Name, is.Name)
	number("reportRetentionDays", was.ReportRetentionDays, is.ReportRetentionDays)
	number("inputsRetentionDays", was.InputsRetentionDays, is.InputsRetentionDays)
	text("paperSize", was.PaperSize, is.PaperSize)
	text("statementTexts", was.StatementTexts, is.StatementTexts)
	text("sessionDetail", was.SessionDetail, is.SessionDetail)
	text("exceptionApproval", was.ExceptionApproval, is.ExceptionApproval)
	text("catalog", was.Catalog, is.Catalog)
	text("protectedTags", orNone(was.ProtectedTags), orNone(is.ProtectedTags))
	number("dueDays.critical", was.DueDays.Critical, is.DueDays.Critical)
	number("dueDays.high", was.DueDays.High, is.DueDays.High)
	number("dueDays.medium", was.DueDays.Medium, is.DueDays.Medium)
	number("dueDays.low", was.DueDays.Low, is.DueDays.Low)
	number("watch.silentMinutes", was.Watch.SilentMinutes, is.Watch.SilentMinutes)
	number("watch.volumePercent", was.Watch.VolumePercent, is.Watch.VolumePercent)
	number("watch.lockWaitMinutes", was.Watch.LockWaitMinutes, is.Watch.LockWaitMinutes)
	number("watch.wraparoundPercent", was.Watch.WraparoundPercent, is.Watch.WraparoundPercent)
	text("watch.advisoryLocks", was.Watch.AdvisoryLocks, is.Watch.AdvisoryLocks)
	c.plan.Changes = append(c.plan.Changes, Change{Action: Alter, Kind: KindSettings, Differences: d,
		task: task{settings: &commands.ChangeOrganization{ChangeSettings: change, Seen: []string{was.Digest()}}}})
}

func (c *comparison) instances() {
	for i := range c.file.Instances {
		declared := &c.file.Instances[i]
		if known, there := c.known[declared.ExternalID]; there {
			c.alter(declared, known)
			continue
		}
		c.plan.Changes = append(c.plan.Changes, Change{Action: Add, Kind: KindInstance, ExternalID: declared.ExternalID, Called: declared.title(), About: declared.about(),
			task: task{instance: &instanceTask{declared: *declared, connection: declared.DSN != "", classify: declared.Classify != ""}}})
	}
	if !c.file.Lists.Instances {
		return
	}
	for i := range c.state.Instances {
		known := &c.state.Instances[i]
		if c.declared[known.ExternalID] != nil {
			continue
		}
		change := Change{Kind: KindInstance, ExternalID: known.ExternalID, Called: known.title(), About: known.about(), Action: Stay, Why: "is not in the file and stays"}
		switch {
		case c.prune && known.Sent:
			change.Why = "is not in the file and stays: a feed or an agent sends it, and would bring it back as a new one"
		case c.prune:
			change.Action, change.Why = Remove, ""
			change.task.instance = &instanceTask{id: known.ID, remove: true}
			c.plan.Changes = append(c.plan.Changes, change)
			continue
		}
		c.plan.Stays = append(c.plan.Stays, change)
	}
}

// alter compares an instance that is there with what the file says of it.
func (c *comparison) alter(declared *Instance, known *Known) {
	if declared.Engine != known.Engine {
		fault := declared.fault("engine", fmt.Sprintf("is %s of the instance that is there, and never changes; a server of another engine is another instance, with an externalId of its own", known.Engine))
		fault.Code = "engine_fixed"
		c.faults = append(c.faults, fault)
		return
	}
	t := &instanceTask{id: known.ID, declared: *declared}
	var d []Difference
	if declared.Name != nil && *declared.Name != known.Name {
		t.change.Name = declared.Name
		d = append(d, Difference{Field: "name", Before: known.Name, After: *declared.Name})
	}
	if host, is := declared.host(known); is && host != known.Host {
		t.change.Host = &host
		d = append(d, Difference{Field: "host", Before: orNone(known.Host), After: orNone(host)})
	}
	if declared.Active != nil && *declared.Active != known.Active {
		t.change.Active = declared.Active
		d = append(d, Difference{Field: "active", Before: strconv.FormatBool(known.Active), After: strconv.FormatBool(*declared.Active)})
	}
	if tags, change := declared.tags(known); change != nil {
		t.change.Tags = change
		d = append(d, tags...)
	}
	if !known.Connected && declared.DSN == "" && declared.Classify != "" {
		c.faults = append(c.faults, declared.fault("classify", "needs a connection: the instance has none, and the file names none"))
		return
	}
	if was := known.Classify; declared.Classify != "" && declared.Classify != was {
		t.classify = true
		d = append(d, Difference{Field: "classify", Before: orNone(was), After: declared.Classify})
	}
	if other, is := declared.connection(known); is {
		t.connection = true
		d = append(d, other)
	}
	t.was = known.DSN
	if len(d) == 0 {
		return
	}
	c.plan.Changes = append(c.plan.Changes, Change{Action: Alter, Kind: KindInstance, ExternalID: known.ExternalID, Called: known.title(), Differences: d, task: task{instance: t}})
}

// tags are how the tags of an instance differ; nil where they do not.
func (i *Instance) tags(known *Known) (d []Difference, c *domain.ChangeTags) {
	if i.Tags == nil {
		return nil, nil
	}
	c = &domain.ChangeTags{Set: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(i.Tags)) {
		if is := known.Tags[key].Value; is != i.Tags[key] {
			c.Set[key] = i.Tags[key]
			d = append(d, Difference{Field: "tags." + key, Before: orNone(is), After: i.Tags[key]})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(known.Tags)) {
		if _, named := i.Tags[key]; !named && known.Tags[key].By == domain.ByPerson {
			c.Remove = append(c.Remove, key)
			d = append(d, Difference{Field: "tags." + key, Before: known.Tags[key].Value, After: "none"})
		}
	}
	if len(d) == 0 {
		return nil, nil
	}
	return d, c
}

// host is that which an instance is to have. One that was taken from the connection
// follows it.
func (i *Instance) host(known *Known) (host string, is bool) {
	if i.Host != nil {
		return *i.Host, true
	}
	if i.DSN == "" {
		return "", false
	}
	was, err := servers.Parse(known.Engine, known.DSN)
	if known.Host == "" || err == nil && was.HostName() == known.Host {
		return i.target.HostName(), true
	}
	return "", false
}

// connection is how the connection of an instance differs, if it does.
func (i *Instance) connection(known *Known) (d Difference, is bool) {
	after := who(i.target)
	switch {
	case i.DSN == "", i.DSN == known.DSN:
		return Difference{}, false
	case !known.Connected:
		return Difference{Field: "connection", Before: "none", After: after}, true
	}
	was, err := servers.Parse(known.Engine, known.DSN)
	switch {
	case err != nil:
		return Difference{Field: "connection", Before: "another", After: after}, true
	case reflect.DeepEqual(was, i.target): // written otherwise
		return Difference{}, false
	case who(was) != after:
		return Difference{Field: "connection", Before: who(was), After: after}, true
	}
	other := []string{}
	if was.Password != i.target.Password {
		other = append(other, "password")
	}
	if was.Database != i.target.Database {
		other = append(other, "database")
	}
	if was.TLS != i.target.TLS {
		other = append(other, "TLS")
	}
	if len(other) == 0 {
		other = []string{"parameters"}
	}
	return Difference{Field: "connection", Before: who(was), After: after, Other: other}, true
}

// who is as much of a connection as is shown.
func who(t servers.Target) string { return t.User + "@" + t.Address() }

func (i *Instance) title() string { return titled(i.ExternalID, i.called()) }

func (k *Known) title() string { return titled(k.ExternalID, k.Name) }

func titled(externalID, name string) string {
	if name == externalID {
		return externalID
	}
	return externalID + " " + strconv.Quote(name)
}

func (i *Instance) about() string {
	about := string(i.Engine)
	if i.DSN != "" {
		return about + ", " + who(i.target)
	}
	if i.Host != nil {
		about += ", " + *i.Host
	}
	return about
}

func (k *Known) about() string {
	if k.Host == "" {
		return string(k.Engine)
	}
	return string(k.Engine) + ", " + k.Host
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
