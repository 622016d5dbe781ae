package demo

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/timegrid"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/intake"
	"muster/internal/intake/feed"
	"muster/internal/postgres/statement"
)

var (
	//go:embed assessments.yaml
	assessmentsYAML []byte
	//go:embed sql/ready.sql
	readySQL string
)

// Assessments is the door that takes what agents found; *feed.Doors is one.
type Assessments interface {
	TakeAssessments(ctx context.Context, from intake.Caller, buffered bool, items []feed.AssessmentItem) (intake.Receipt, error)
}

// inspected is what agents found on one server, over time (assessments.yaml).
type inspected struct {
	Name, Edition string
	Fails         []failing
	Blind         []string // checks that the agent could not run
	Accounts      []account
	Settings      []setting
	Databases     []stored
}

// span is when something is so, in days before the organization was made.
type span struct{ Since, Gone *int }

func (s span) holds(ago int) bool {
	return (s.Since == nil || ago <= *s.Since) && (s.Gone == nil || ago > *s.Gone)
}

// failing is a check that fails for a time.
type failing struct {
	span     `yaml:",inline"`
	Check    string
	In       string // database
	Evidence string
	Measured string
	Objects  []string
}

type account struct {
	span       `yaml:",inline"`
	Name       string
	Login      *bool // left out: it can
	Superuser  bool
	Privileges []string
	MemberOf   []string `yaml:"memberOf"`
	Seen       *int     // days before the assessment; left out: never
	Expires    *int     // days after the organization was made
}

// setting is one that was another one until some days before.
type setting struct {
	Name, Value, Unit string
	Was               string
	Since             *int
}

type stored struct {
	Name      string
	GB, Grows float64 // grows by so much a day
	Encrypted *bool
	Tables    []struct {
		Schema, Table string
		Rows          int64
		Readers       []string // nil: the agent did not look
		Columns       map[string]string
	}
}

var whatAgentsFound = reading[struct{ Servers []inspected }]("assessments.yaml", assessmentsYAML)

// daysBefore are the days before the organization was made on which agents assessed its
// servers, the oldest first: each week, and each day in the end.
var daysBefore = []int{56, 49, 42, 35, 28, 21, 14, 7, 3, 2, 1}

// looksAt is when agents look at servers, on a day. A demo may be made before that.
const looksAt = 5*time.Hour + 10*time.Minute

// assessedAt is when the assessment of so many days before the organization was made took
// place. That of its day is of the moment.
func assessedAt(made time.Time, ago int) time.Time {
	if ago == 0 {
		return made.UTC().Truncate(time.Second)
	}
	return timegrid.Day.Floor(made).AddDate(0, 0, -ago).Add(looksAt)
}

// assess sends what agents found up to the day before the organization was made.
func (d *Demo) assess(ctx context.Context, o accounts.Organization) error {
	if d.Assessments == nil {
		return nil
	}
	days := slices.DeleteFunc(slices.Clone(daysBefore), func(ago int) bool { return ago > 1 && time.Duration(ago)*24*time.Hour > d.Past })
	return d.sendAssessments(ctx, o, days)
}

// assessAnew goes on with that: once the report over what was found before is ready, the
// assessment of the day on which the organization was made is sent and another report
// requested, which tells what is new and what has gone; then that of each day. It is done
// for now unless the report is awaited.
func (d *Demo) assessAnew(ctx context.Context, o accounts.Organization) (done bool, err error) {
	if d.Assessments == nil {
		return true, nil
	}
	team, err := d.team(ctx)
	if err != nil || team == nil {
		return false, err
	}
	ready, err := statement.One[bool](ctx, d.DB, "look whether the first Security report is ready", readySQL, o.ID, team[ana].String(), string(report.Security))
	if err != nil || !ready {
		return false, err
	}
	last, err := d.lastAssessed(ctx, o)
	if err != nil {
		return false, err
	}
	var days []int
	for ago := 0; !assessedAt(o.CreatedAt, ago).After(d.Now()); ago-- {
		if assessedAt(o.CreatedAt, ago).After(last) {
			days = append(days, ago)
		}
	}
	if len(days) > 0 {
		if err := d.sendAssessments(ctx, o, days[max(0, len(days)-len(daysBefore)):]); err != nil {
			return false, err
		}
	}
	again := request{jonas, over(report.Security), []int{ana, mei}}
	return true, d.reports(ctx, o.ID, team, []request{again})
}

// lastAssessed is when a server on paper was assessed last.
func (d *Demo) lastAssessed(ctx context.Context, o accounts.Organization) (time.Time, error) {
	name := whatAgentsFound().Servers[0].Name
	places, err := d.Commands.FindPlaces(ctx, o.ID, []inventory.PlaceName{{Instance: &name}})
	if err != nil {
		return time.Time{}, err
	}
	states, err := d.Facts.States(ctx, o.ID, []uuid.UUID{places[0].Instance})
	if err != nil {
		return time.Time{}, err
	}
	if at := states[places[0].Instance].LastAssessedAt; at != nil {
		return *at, nil
	}
	return time.Time{}, nil
}

// sendAssessments sends those of these days, a call a server. One that somebody removed is
// left out.
func (d *Demo) sendAssessments(ctx context.Context, o accounts.Organization, days []int) error {
	checks, err := catalogue.Load()
	if err != nil {
		return err
	}
	known := make(map[string]server, len(servers()))
	for _, s := range servers() {
		known[s.Name] = s
	}
	var mark usecase.Mark
	for _, in := range whatAgentsFound().Servers {
		on, there := known[in.Name]
		if !there {
			return fmt.Errorf("assessments.yaml: there is no server %s", in.Name)
		}
		places, err := d.Commands.FindPlaces(ctx, o.ID, []inventory.PlaceName{{Instance: &in.Name}})
		if err != nil {
			return err
		}
		if places[0].Instance == uuid.Nil {
			continue
		}
		var items []feed.AssessmentItem
		for _, ago := range days {
			if ago < on.Days {
				items = append(items, in.item(on, checks, o.CreatedAt, ago))
			}
		}
		receipt, err := d.Assessments.TakeAssessments(ctx, intake.Caller{OrganizationID: o.ID, Component: "demo"}, false, items)
		var refused *usecase.RuleError
		if errors.As(err, &refused) && refused.Code == "assessed_by_collector" { // somebody registered a connection
			continue
		}
		if err != nil {
			return fmt.Errorf("send the assessments of %s: %w", in.Name, err)
		}
		if receipt.Mark.Position > 0 {
			mark = receipt.Mark
		}
	}
	if mark.Position == 0 {
		return nil
	}
	return d.settle(ctx, mark)
}

// item is what an agent found so many days before the organization was made.
func (in inspected) item(on server, checks *catalogue.Catalogue, made time.Time, ago int) feed.AssessmentItem {
	at := assessedAt(made, ago)
	item := feed.AssessmentItem{
		Instance: in.Name, At: at, Version: &on.Version, Checks: in.checks(on.Engine, checks, ago),
		Accounts: []feed.AccountItem{}, Settings: []feed.SettingItem{}, Databases: []feed.DatabaseItem{},
	}
	if in.Edition != "" {
		item.Edition = &in.Edition
	}
	for _, a := range in.Accounts {
		if !a.holds(ago) {
			continue
		}
		one := feed.AccountItem{Name: a.Name, CanLogin: a.Login == nil || *a.Login, Superuser: a.Superuser, Privileges: &a.Privileges, MemberOf: &a.MemberOf}
		if a.Seen != nil {
			seen := at.AddDate(0, 0, -*a.Seen).Add(-time.Hour)
			one.LastSignInAt = &seen
		}
		if a.Expires != nil {
			expires := timegrid.Day.Floor(made).AddDate(0, 0, *a.Expires)
			one.ExpiresAt = &expires
		}
		item.Accounts = append(item.Accounts, one)
	}
	for _, s := range in.Settings {
		value := s.Value
		if s.Since != nil && ago > *s.Since {
			value = s.Was
		}
		one := feed.SettingItem{Name: s.Name, Value: &value}
		if s.Unit != "" {
			one.Unit = &s.Unit
		}
		item.Settings = append(item.Settings, one)
	}
	for _, db := range in.Databases {
		item.Databases = append(item.Databases, db.item(at, ago))
	}
	return item
}

// checks are the answers to all checks of the engine.
func (in inspected) checks(engine fleet.Engine, all *catalogue.Catalogue, ago int) []feed.CheckItem {
	fails := map[string]*feed.CheckItem{}
	for _, f := range in.Fails {
		if !f.holds(ago) {
			continue
		}
		item := fails[f.Check]
		if item == nil {
			item = &feed.CheckItem{ID: f.Check, Outcome: "fail"}
			fails[f.Check] = item
		}
		if f.Measured != "" {
			item.Measured = &f.Measured
		}
		for _, object := range f.Objects {
			one := feed.ObjectItem{Object: object, Evidence: &f.Evidence}
			if f.In != "" {
				one.Database = &f.In
			}
			item.Objects = append(item.Objects, one)
		}
	}
	var out []feed.CheckItem
	denied := "The agent's account may not read what the check needs."
	for _, check := range all.Of(engine) {
		switch item := fails[check.ID]; {
		case item != nil:
			out = append(out, *item)
		case slices.Contains(in.Blind, check.ID):
			out = append(out, feed.CheckItem{ID: check.ID, Outcome: "notAssessed", Reason: &denied})
		default:
			measured := passing(check.Pass)
			out = append(out, feed.CheckItem{ID: check.ID, Outcome: "pass", Measured: &measured})
		}
		delete(fails, check.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(fails)) { // the door says that there is no such check
		out = append(out, *fails[id])
	}
	return out
}

// Of limits, what a server in order has; of settings, the value that the limit names.
var (
	inOrder = map[string]string{
		"at most 80 %": "38 %", "at least 90 %": "99.4 %", "less than 10 GB since the last statistics reset": "1.3 GB", "at most 10": "0",
		"less than 75 % used": "12 %", "authentication_timeout <= 60 s": "authentication_timeout = 60 s",
		"idle_in_transaction_session_timeout > 0": "idle_in_transaction_session_timeout = 600 s",
	}
	setTo = regexp.MustCompile(`^(\S+) (?:=|is) ([A-Za-z0-9.-]+)(?:$|,? or | in value_in_use)`)
	used  = regexp.MustCompile(`^(.+) is ([01])(?: in value_in_use|, or )`)
	none  = regexp.MustCompile(`^(?:no|none|neither) |\bevery | has no row`)
)

// passing is what is measured where a check passes, by its limit.
func passing(limit string) string {
	if value := inOrder[limit]; value != "" {
		return value
	}
	for _, form := range []*regexp.Regexp{setTo, used} {
		if m := form.FindStringSubmatch(limit); m != nil {
			return m[1] + " = " + m[2]
		}
	}
	if none.MatchString(limit) {
		return "none found"
	}
	return "as required"
}

// item is a database as it was so many days before; what lies where is classified each week.
func (db stored) item(at time.Time, ago int) feed.DatabaseItem {
	size := json.Number(strconv.FormatInt(int64(max(0, db.GB-db.Grows*float64(ago))*1e9), 10))
	item := feed.DatabaseItem{Database: db.Name, SizeBytes: &size, EncryptedAtRest: db.Encrypted}
	if ago > 1 && ago%7 != 0 {
		return item
	}
	run := &feed.ClassificationItem{CompletedAt: at.Add(-20 * time.Minute), Method: "values", Tables: []feed.TableItem{}}
	for _, t := range db.Tables {
		rows := json.Number(strconv.FormatInt(t.Rows, 10))
		table := feed.TableItem{Schema: t.Schema, Table: t.Table, Rows: &rows, Readers: t.Readers}
		for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
			// Names that say what they hold are surer than those that were told by their values.
			confidence := cmp.Or(map[string]json.Number{"Person": "0.5", "specialCategory": "0.7", "deviceId": "0.8"}[t.Columns[name]], "0.97")
			table.Columns = append(table.Columns, feed.ColumnItem{Column: name, Category: t.Columns[name], Confidence: confidence})
		}
		run.Tables = append(run.Tables, table)
	}
	item.Classification = run
	return item
}
