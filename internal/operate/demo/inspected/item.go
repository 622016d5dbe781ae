package inspected

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/domain/timegrid"
	"muster/internal/assessment/catalogue"
	"muster/internal/intake/feed"
)

// Item is what an agent found so many days before the organization was made.
func (in Server) Item(on On, checks *catalogue.Catalogue, made time.Time, ago int) feed.AssessmentItem {
	at := At(made, ago)
	item := feed.AssessmentItem{
		Instance: in.Name, At: at, Version: &on.Version, Checks: in.checks(on, checks, ago),
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
func (in Server) checks(on On, all *catalogue.Catalogue, ago int) []feed.CheckItem {
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
		evidence := strings.ReplaceAll(f.Evidence, "{last backup}", on.LastBackup.Format("2006-01-02T15:04:05"))
		for _, object := range f.Objects {
			one := feed.ObjectItem{Object: object, Evidence: &evidence}
			if f.In != "" {
				one.Database = &f.In
			}
			item.Objects = append(item.Objects, one)
		}
	}
	var out []feed.CheckItem
	denied := "The agent's account may not read what the check needs."
	for _, check := range all.Of(on.Engine) {
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
	size := json.Number(strconv.FormatInt(int64(db.bytes(float64(-ago))), 10))
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
