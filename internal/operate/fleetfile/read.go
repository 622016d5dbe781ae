package fleetfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/secrets/secretref"
	"muster/internal/servers"
	"muster/internal/text/strictyaml"
)

// maxInstances is as many as one call of a feed takes.
const maxInstances = 10_000

// walker reads the nodes of a file.
type walker struct{ strictyaml.Reader }

// Reader reads files. Its fields are what a file is held against.
type Reader struct {
	Secrets secretref.Source
	Checks  commands.Checks
	Now     time.Time
}

// Read returns what a file declares, or everything that is wrong with it, in the order
// of its lines.
func (r Reader) Read(text []byte) (File, []Fault) {
	w := &walker{}
	root, ok := w.Document(text)
	if !ok {
		return File{}, w.Faults
	}
	var f File
	var watchRules *strictyaml.Node // they are held against the settings, wherever those are
	var watchField string
	w.Mapping(root, "", nil, map[string]strictyaml.Member{
		"settings": func(n *strictyaml.Node, field string) { w.settings(n, field, &f) },
		"instances": func(n *strictyaml.Node, field string) {
			f.Lists.Instances = w.Sequence(n, field, func(n *strictyaml.Node, field string) { r.instance(w, n, field, &f) })
		},
		"teams": func(n *strictyaml.Node, field string) {
			f.Lists.Teams = w.Sequence(n, field, func(n *strictyaml.Node, field string) { w.team(n, field, &f) })
		},
		"channels": func(n *strictyaml.Node, field string) {
			f.Lists.Channels = w.Sequence(n, field, func(n *strictyaml.Node, field string) { w.channel(n, field, &f) })
		},
		"rules": func(n *strictyaml.Node, field string) {
			f.Lists.Rules = w.Sequence(n, field, func(n *strictyaml.Node, field string) { w.rule(n, field, &f) })
		},
		"watchRules": func(n *strictyaml.Node, field string) { watchRules, watchField = n, field },
		"maintenanceWindows": func(n *strictyaml.Node, field string) {
			f.Lists.Windows = w.Sequence(n, field, func(n *strictyaml.Node, field string) { r.window(w, n, field, &f) })
		},
		"objectives": func(n *strictyaml.Node, field string) {
			f.Lists.Objectives = w.Sequence(n, field, func(n *strictyaml.Node, field string) { w.objective(n, field, &f) })
		},
		"exceptions": func(n *strictyaml.Node, field string) {
			f.Lists.Exceptions = w.Sequence(n, field, func(n *strictyaml.Node, field string) { r.exception(w, n, field, &f) })
		},
	})
	if watchRules != nil {
		w.Sequence(watchRules, watchField, func(n *strictyaml.Node, field string) { w.watchRule(n, field, &f) })
	}
	w.brokenObjectives(f)
	w.once(f)
	slices.SortStableFunc(w.Faults, func(a, b Fault) int { return a.Line - b.Line })
	return f, w.Faults
}

func (w *walker) settings(node *strictyaml.Node, field string, f *File) {
	s := &f.Settings
	lines := map[string]int{}
	w.Mapping(node, field, nil, marked(map[string]strictyaml.Member{
		"name":                w.Optional(&s.Name),
		"reportRetentionDays": w.Number(&s.ReportRetentionDays),
		"inputsRetentionDays": w.Number(&s.InputsRetentionDays),
		"paperSize":           w.Optional(&s.PaperSize),
		"statementTexts":      w.Optional(&s.StatementTexts),
		"sessionDetail":       w.Optional(&s.SessionDetail),
		"exceptionApproval":   w.Optional(&s.ExceptionApproval),
		"catalog":             w.Optional(&s.Catalog),
		"protectedTags":       w.Words(&s.ProtectedTags),
		"dueDays": func(n *strictyaml.Node, field string) {
			w.Mapping(n, field, nil, marked(map[string]strictyaml.Member{
				"critical": w.Number(&s.DueCritical),
				"high":     w.Number(&s.DueHigh),
				"medium":   w.Number(&s.DueMedium),
				"low":      w.Number(&s.DueLow),
			}, lines))
		},
		"watch": func(n *strictyaml.Node, field string) {
			w.Mapping(n, field, nil, marked(map[string]strictyaml.Member{
				"silentMinutes":     w.Number(&s.SilentMinutes),
				"volumePercent":     w.Number(&s.VolumePercent),
				"lockWaitMinutes":   w.Number(&s.LockWaitMinutes),
				"wraparoundPercent": w.Number(&s.WraparoundPercent),
				"advisoryLocks":     w.Optional(&s.AdvisoryLocks),
			}, lines))
		},
	}, lines))
	w.broken(commands.CheckSettings(*s), field, node.Line, lines)
}

// marked are members that note the line of each field that they read.
func marked(members map[string]strictyaml.Member, lines map[string]int) map[string]strictyaml.Member {
	all := make(map[string]strictyaml.Member, len(members))
	for key, read := range members {
		all[key] = func(value *strictyaml.Node, field string) {
			lines[field] = value.Line
			read(value, field)
		}
	}
	return all
}

// broken adds the rules of a use case that are broken, each at its line.
func (w *walker) broken(err error, field string, line int, lines map[string]int) {
	var rules *usecase.RuleError
	if !errors.As(err, &rules) {
		return
	}
	for _, rule := range rules.Fields {
		at := strictyaml.Below(field, strings.ReplaceAll(strings.TrimPrefix(rule.Pointer, "#/"), "/", "."))
		fault := Fault{Line: line, Field: at, Rule: rule.Detail}
		for within, more := at, true; more; within, more = parent(within) {
			if known := lines[within]; known > 0 {
				fault.Line = known
				break
			}
		}
		w.Faults = append(w.Faults, fault)
	}
}

// parent is what a field is a member of.
func parent(field string) (of string, is bool) {
	last := strings.LastIndexByte(field, '.')
	return field[:max(last, 0)], last > 0
}

func (r Reader) instance(w *walker, node *strictyaml.Node, field string, f *File) {
	i := Instance{Place: Place{Line: node.Line, Field: field}}
	var engine string
	var dsn secretref.Reference
	var words []string
	for _, e := range fleet.Engines() {
		words = append(words, string(e))
	}
	lines, before := map[string]int{}, len(w.Faults)
	members := map[string]strictyaml.Member{
		"externalId": w.Text(&i.ExternalID), "name": w.Optional(&i.Name), "engine": w.OneOf(&engine, words...),
		"host": w.Optional(&i.Host), "active": w.Truth(&i.Active), "separate": w.Truth(&i.Separate),
		"dsn": w.Text(&dsn.DSN), "dsnFile": w.Text(&dsn.DSNFile), "passwordFile": w.Text(&dsn.PasswordFile),
		"classify": w.OneOf(&i.Classify, assessment.ClassifyOff, assessment.ClassifyNames, assessment.ClassifyValues),
		"tags":     w.Texts(&i.Tags),
	}
	w.Mapping(node, field, []string{"externalId", "engine"}, marked(members, lines))
	i.Engine = fleet.Engine(engine)
	if engine != "" && i.ExternalID != "" {
		w.broken(inventory.Registration{ExternalID: i.ExternalID, Name: i.called(), Engine: i.Engine, Host: deref(i.Host), Tags: i.Tags}.Check(r.Now), field, node.Line, lines)
	}
	fault, broken := Fault{}, false
	if dsn != (secretref.Reference{}) {
		fault, broken = r.connection(&i, dsn)
	} else if i.Classify != "" && len(w.Faults) == before && !servers.Known(i.Engine) {
		fault, broken = i.fault("classify", "is for engines that Muster connects to"), true
	}
	if broken {
		if known := lines[fault.Field]; known > 0 {
			fault.Line = known
		}
		w.Faults = append(w.Faults, fault)
	}
	f.Instances = append(f.Instances, i)
}

// connection resolves and reads the connection string of an instance.
func (r Reader) connection(i *Instance, reference secretref.Reference) (fault Fault, broken bool) {
	member := reference.MemberOf(nil)
	if i.Engine != "" && !servers.Known(i.Engine) {
		return i.fault(member, fmt.Sprintf("cannot be used: Muster has no collector for %s; leave it out, and send what is measured", i.Engine)), true
	}
	dsn, err := r.Secrets.Resolve(reference)
	if err != nil {
		return i.fault(reference.MemberOf(err), strings.ReplaceAll(err.Error(), "\n", ", ")), true
	}
	if i.Engine == "" {
		return Fault{}, false
	}
	target, err := servers.Parse(i.Engine, dsn)
	var unreadable *servers.DSNError
	if errors.As(err, &unreadable) {
		return i.fault(member, "cannot be read: "+unreadable.Problem), true
	}
	if err != nil {
		return i.fault(member, "cannot be read"), true
	}
	i.DSN, i.target = dsn, target
	return Fault{}, false
}

func (r Reader) exception(w *walker, node *strictyaml.Node, field string, f *File) {
	x := Exception{Place: Place{Line: node.Line, Field: field}}
	lines := map[string]int{}
	members := map[string]strictyaml.Member{
		"checkId": w.Text(&x.CheckID), "instance": w.Text(&x.Instance), "database": w.Text(&x.Database),
		"objectRef": w.Text(&x.ObjectRef), "reason": w.Text(&x.Reason), "until": w.Instant(&x.Until),
	}
	before := len(w.Faults)
	w.Mapping(node, field, []string{"checkId", "reason", "until"}, marked(members, lines))
	if len(w.Faults) == before {
		asked := commands.RequestException{Subject: exception.Subject{CheckID: x.CheckID, ObjectRef: x.ObjectRef}, Reason: x.Reason, Until: x.Until}
		if x.lapsed(r.Now) { // it was right when it was written
			asked.Until = r.Now.Add(time.Hour)
		}
		w.broken(asked.Check(r.Checks, r.Now), field, node.Line, lines)
		if x.Database != "" && x.Instance == "" {
			w.Faults = append(w.Faults, x.fault("database", "needs instance"))
		}
	}
	x.Reason = strings.TrimSpace(x.Reason)
	f.Exceptions = append(f.Exceptions, x)
}

// once refuses what is declared twice.
func (w *walker) once(f File) {
	if len(f.Instances) > maxInstances {
		w.Faults = append(w.Faults, Fault{Line: f.Instances[maxInstances].Line, Field: "instances", Rule: fmt.Sprintf("has more than %d items", maxInstances)})
	}
	lines := map[string]int{}
	for _, i := range f.Instances {
		if first, there := lines[i.ExternalID]; there && i.ExternalID != "" {
			w.Faults = append(w.Faults, i.fault("externalId", fmt.Sprintf("is that of line %d", first)))
			continue
		}
		lines[i.ExternalID] = i.Line
	}
	subjects := map[[4]string]int{}
	for _, x := range f.Exceptions {
		subject := [4]string{x.CheckID, x.Instance, x.Database, x.ObjectRef}
		if first, there := subjects[subject]; there && x.CheckID != "" {
			w.Faults = append(w.Faults, x.fault("checkId", fmt.Sprintf("is excepted there by line %d already", first)))
			continue
		}
		subjects[subject] = x.Line
	}
}

// called is the name of an instance that is new.
func (i Instance) called() string {
	if i.Name != nil {
		return *i.Name
	}
	return i.ExternalID
}

func (x Exception) lapsed(now time.Time) bool { return !now.Before(x.Until) }

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
