package roster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"muster/commands"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/secretref"
	"muster/internal/servers"
)

// MaxBytes is more than 10,000 servers take, and maxInstances as many as one call of a
// feed.
const (
	MaxBytes     = 8 << 20
	maxInstances = 10_000
)

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
	root, ok := w.document(text)
	if !ok {
		return File{}, w.faults
	}
	var f File
	w.mapping(root, "", nil, map[string]member{
		"settings": func(n *yaml.Node, field string) { w.settings(n, field, &f) },
		"instances": func(n *yaml.Node, field string) {
			f.Lists.Instances = w.sequence(n, field, func(n *yaml.Node, field string) { r.instance(w, n, field, &f) })
		},
		"exceptions": func(n *yaml.Node, field string) {
			f.Lists.Exceptions = w.sequence(n, field, func(n *yaml.Node, field string) { r.exception(w, n, field, &f) })
		},
	})
	w.once(f)
	slices.SortStableFunc(w.faults, func(a, b Fault) int { return a.Line - b.Line })
	return f, w.faults
}

// document parses the one document of a file.
func (w *walker) document(text []byte) (*yaml.Node, bool) {
	in := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	err := in.Decode(&first)
	if errors.Is(err, io.EOF) {
		w.refuse(&yaml.Node{Line: 1}, "", "the file is empty")
		return nil, false
	}
	if err != nil {
		w.unparsed(err)
		return nil, false
	}
	if err := in.Decode(&second); err == nil {
		w.refuse(&second, "", "the file holds a second document")
	} else if !errors.Is(err, io.EOF) {
		w.unparsed(err)
	}
	w.plain(&first, 0)
	return first.Content[0], len(w.faults) == 0
}

func (w *walker) unparsed(err error) {
	for _, f := range secretref.YAMLFaults(err) {
		w.refuse(&yaml.Node{Line: max(f.Line, 1)}, "", "is not YAML: "+f.Rule)
	}
}

// plain refuses what makes a file other than it looks.
func (w *walker) plain(node *yaml.Node, depth int) {
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		w.refuse(node, "", "anchors and aliases are not read: write out what is meant")
		return
	}
	if depth > 16 {
		w.refuse(node, "", "is nested too deep")
		return
	}
	for _, n := range node.Content {
		w.plain(n, depth+1)
	}
}

func (w *walker) settings(node *yaml.Node, field string, f *File) {
	s := &f.Settings
	lines := map[string]int{}
	w.mapping(node, field, nil, marked(map[string]member{
		"name":                w.optional(&s.Name),
		"reportRetentionDays": w.number(&s.ReportRetentionDays),
		"inputsRetentionDays": w.number(&s.InputsRetentionDays),
		"paperSize":           w.optional(&s.PaperSize),
		"statementTexts":      w.optional(&s.StatementTexts),
		"exceptionApproval":   w.optional(&s.ExceptionApproval),
		"protectedTags":       w.words(&s.ProtectedTags),
		"dueDays": func(n *yaml.Node, field string) {
			w.mapping(n, field, nil, marked(map[string]member{
				"critical": w.number(&s.DueCritical),
				"high":     w.number(&s.DueHigh),
				"medium":   w.number(&s.DueMedium),
				"low":      w.number(&s.DueLow),
			}, lines))
		},
		"watch": func(n *yaml.Node, field string) {
			w.mapping(n, field, nil, marked(map[string]member{
				"silentMinutes":     w.number(&s.SilentMinutes),
				"volumePercent":     w.number(&s.VolumePercent),
				"lockWaitMinutes":   w.number(&s.LockWaitMinutes),
				"wraparoundPercent": w.number(&s.WraparoundPercent),
			}, lines))
		},
	}, lines))
	w.broken(commands.CheckSettings(*s), field, node.Line, lines)
}

// marked are members that note the line of each field that they read.
func marked(members map[string]member, lines map[string]int) map[string]member {
	all := make(map[string]member, len(members))
	for key, read := range members {
		all[key] = func(value *yaml.Node, field string) {
			lines[field] = value.Line
			read(value, field)
		}
	}
	return all
}

// broken adds the rules of a use case that are broken, each at its line.
func (w *walker) broken(err error, field string, line int, lines map[string]int) {
	var rules *commands.RuleError
	if !errors.As(err, &rules) {
		return
	}
	for _, rule := range rules.Fields {
		at := below(field, strings.ReplaceAll(strings.TrimPrefix(rule.Pointer, "#/"), "/", "."))
		fault := Fault{Line: line, Field: at, Rule: rule.Detail}
		for within, more := at, true; more; within, more = parent(within) {
			if known := lines[within]; known > 0 {
				fault.Line = known
				break
			}
		}
		w.faults = append(w.faults, fault)
	}
}

// parent is what a field is a member of.
func parent(field string) (of string, is bool) {
	last := strings.LastIndexByte(field, '.')
	return field[:max(last, 0)], last > 0
}

func (r Reader) instance(w *walker, node *yaml.Node, field string, f *File) {
	i := Instance{Place: Place{Line: node.Line, Field: field}}
	var engine string
	var dsn secretref.Reference
	var words []string
	for _, e := range fleet.Engines() {
		words = append(words, string(e))
	}
	lines, before := map[string]int{}, len(w.faults)
	members := map[string]member{
		"externalId": w.text(&i.ExternalID), "name": w.optional(&i.Name), "engine": w.oneOf(&engine, words...),
		"host": w.optional(&i.Host), "active": w.truth(&i.Active), "separate": w.truth(&i.Separate),
		"dsn": w.text(&dsn.DSN), "dsnFile": w.text(&dsn.DSNFile), "passwordFile": w.text(&dsn.PasswordFile),
		"classify": w.oneOf(&i.Classify, assessment.ClassifyOff, assessment.ClassifyNames, assessment.ClassifyValues),
		"tags":     w.texts(&i.Tags),
	}
	w.mapping(node, field, []string{"externalId", "engine"}, marked(members, lines))
	i.Engine = fleet.Engine(engine)
	if engine != "" && i.ExternalID != "" {
		w.broken(commands.RegisterInstance{ExternalID: i.ExternalID, Name: i.called(), Engine: i.Engine, Host: deref(i.Host), Tags: i.Tags}.Check(r.Now), field, node.Line, lines)
	}
	fault, broken := Fault{}, false
	if dsn != (secretref.Reference{}) {
		fault, broken = r.connection(&i, dsn)
	} else if i.Classify != "" && len(w.faults) == before && !servers.Known(i.Engine) {
		fault, broken = i.fault("classify", "is for engines that Muster connects to"), true
	}
	if broken {
		if known := lines[fault.Field]; known > 0 {
			fault.Line = known
		}
		w.faults = append(w.faults, fault)
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

func (r Reader) exception(w *walker, node *yaml.Node, field string, f *File) {
	x := Exception{Place: Place{Line: node.Line, Field: field}}
	lines := map[string]int{}
	members := map[string]member{
		"checkId": w.text(&x.CheckID), "instance": w.text(&x.Instance), "database": w.text(&x.Database),
		"objectRef": w.text(&x.ObjectRef), "reason": w.text(&x.Reason), "until": w.instant(&x.Until),
	}
	before := len(w.faults)
	w.mapping(node, field, []string{"checkId", "reason", "until"}, marked(members, lines))
	if len(w.faults) == before {
		asked := commands.RequestException{Subject: exception.Subject{CheckID: x.CheckID, ObjectRef: x.ObjectRef}, Reason: x.Reason, Until: x.Until}
		if x.lapsed(r.Now) { // it was right when it was written
			asked.Until = r.Now.Add(time.Hour)
		}
		w.broken(asked.Check(r.Checks, r.Now), field, node.Line, lines)
		if x.Database != "" && x.Instance == "" {
			w.faults = append(w.faults, x.fault("database", "needs instance"))
		}
	}
	x.Reason = strings.TrimSpace(x.Reason)
	f.Exceptions = append(f.Exceptions, x)
}

// once refuses what is declared twice.
func (w *walker) once(f File) {
	if len(f.Instances) > maxInstances {
		w.faults = append(w.faults, Fault{Line: f.Instances[maxInstances].Line, Field: "instances", Rule: fmt.Sprintf("has more than %d items", maxInstances)})
	}
	lines := map[string]int{}
	for _, i := range f.Instances {
		if first, there := lines[i.ExternalID]; there && i.ExternalID != "" {
			w.faults = append(w.faults, i.fault("externalId", fmt.Sprintf("is that of line %d", first)))
			continue
		}
		lines[i.ExternalID] = i.Line
	}
	subjects := map[[4]string]int{}
	for _, x := range f.Exceptions {
		subject := [4]string{x.CheckID, x.Instance, x.Database, x.ObjectRef}
		if first, there := subjects[subject]; there && x.CheckID != "" {
			w.faults = append(w.faults, x.fault("checkId", fmt.Sprintf("is excepted there by line %d already", first)))
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
