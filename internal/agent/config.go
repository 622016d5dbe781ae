package agent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/agent/backuptool"
	"muster/internal/assessment"
	"muster/internal/secrets/secretref"
	"muster/internal/servers"
	"muster/internal/text/strictyaml"
)

// Config is what an agent measures, and what it keeps until it is sent.
type Config struct {
	Name      string // of the agent, as people know it
	Directory string
	Buffer    int64 // bytes of measurements that are kept at most
	Host      bool  // this machine is measured
	Texts     bool  // of statements, normalized
	Servers   []Server
	secrets   secretref.Source
}

// Server is a server to measure and assess.
type Server struct {
	Name, ExternalID string
	Engine           fleet.Engine
	Connection       secretref.Reference
	HostName         string // empty: where its connection leads
	Classify         string
	AssessEvery      time.Duration // 0: never
	Tags             map[string]string
	Backups          *backuptool.Tool // which tells of its backups; nil: none does
}

// file is a configuration as it is written.
type file struct {
	Name, Directory, Buffer, StatementTexts string
	Host                                    *bool
	Servers                                 []fileServer
}

type fileServer struct {
	Name, ExternalID, Engine, DSN, DSNFile, PasswordFile, Host, Classify, AssessEvery string

	Tags    map[string]string
	Backups *fileBackups
	line    int
}

// ConfigError has everything that is wrong with a configuration, a line each.
type ConfigError struct{ Faults []string }

func (e *ConfigError) Error() string { return strings.Join(e.Faults, "\n") }

// Defaults of what a configuration leaves out.
const (
	defaultBuffer      = 1 << 30
	leastBuffer        = 1 << 20
	defaultAssessEvery = 6 * time.Hour
	leastAssessEvery   = 15 * time.Minute
	mostServers        = 1000 // a report takes no more
)

// ReadConfig reads a configuration. Connection strings are looked at and forgotten: the
// secrets in them are read again whenever a connection is opened. Error: *ConfigError.
func ReadConfig(path string, lookup func(string) (string, bool)) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &ConfigError{[]string{err.Error()}}
	}
	source := secretref.Source{Lookup: lookup, Dir: filepath.Dir(path), Exposed: exposed}
	f, faults := parse(text)
	told, readable := make([]string, len(faults)), true
	for i, fault := range faults {
		told[i], readable = "line "+fault.String(), readable && fault.Unknown
	}
	if !readable { // what it lacks nobody knows
		return nil, &ConfigError{told}
	}
	c := &Config{Name: f.Name, Directory: f.Directory, Host: f.Host == nil || *f.Host, secrets: source}
	r := rules{config: c, names: map[string]int{}, faults: told}
	r.common(f)
	for _, s := range f.Servers {
		r.server(s)
	}
	if len(f.Servers) == 0 && !c.Host {
		r.breaks(0, "servers", "are none, and host is false: there is nothing to measure")
	}
	if len(r.faults) > 0 {
		return nil, &ConfigError{r.faults}
	}
	return c, nil
}

// parse reads a file, and says what is wrong with how it is written.
func parse(text []byte) (f file, faults []strictyaml.Fault) {
	var r strictyaml.Reader
	top, ok := r.Document(text)
	if !ok {
		return f, r.Faults
	}
	r.Mapping(top, "", nil, map[string]strictyaml.Member{
		"name": r.Text(&f.Name), "directory": r.Text(&f.Directory), "buffer": r.TextOrNumber(&f.Buffer),
		"host": r.Truth(&f.Host), "statementTexts": r.Text(&f.StatementTexts),
		"servers": func(n *strictyaml.Node, field string) {
			r.Sequence(n, field, func(n *strictyaml.Node, field string) {
				f.Servers = append(f.Servers, parseServer(&r, n, field))
			})
		},
	})
	return f, r.Faults
}

func parseServer(r *strictyaml.Reader, n *strictyaml.Node, field string) fileServer {
	s := fileServer{line: n.Line}
	r.Mapping(n, field, nil, map[string]strictyaml.Member{
		"name": r.Text(&s.Name), "externalId": r.Text(&s.ExternalID), "engine": r.Text(&s.Engine),
		"dsn": r.Text(&s.DSN), "dsnFile": r.Text(&s.DSNFile), "passwordFile": r.Text(&s.PasswordFile),
		"host": r.Text(&s.Host), "classify": r.Text(&s.Classify), "assessEvery": r.Text(&s.AssessEvery),
		"tags": r.Texts(&s.Tags), "backups": parseBackups(r, &s.Backups),
	})
	return s
}

// rules holds a configuration against its rules.
type rules struct {
	config *Config
	names  map[string]int // external ids, by their lines
	faults []string
}

func (r *rules) breaks(line int, field, rule string) {
	where := field
	if line > 0 {
		where = fmt.Sprintf("line %d: %s", line, field)
	}
	r.faults = append(r.faults, where+" "+rule)
}

// name holds that people can read it and the server takes it.
func (r *rules) name(line int, field, text string, most int) {
	if utf8.RuneCountInString(text) > most {
		r.breaks(line, field, fmt.Sprintf("has more than %d characters", most))
	}
	if !printable.Name(text) {
		r.breaks(line, field, printable.Rule)
	}
}

func (r *rules) common(f file) {
	c := r.config
	if f.Name == "" {
		c.Name, _ = os.Hostname()
	} else {
		r.name(0, "name", f.Name, 200)
	}
	if n := len(f.Servers); n > mostServers {
		r.breaks(0, "servers", fmt.Sprintf("are %d, and more than %d", n, mostServers))
	}
	if f.Directory == "" {
		r.breaks(0, "directory", "is missing: where the agent keeps what is not sent yet")
	}
	var err error
	if c.Buffer, err = parseBytes(f.Buffer); err != nil {
		r.breaks(0, "buffer", err.Error())
	}
	switch f.StatementTexts {
	case "", "off":
	case "normalized":
		c.Texts = true
	default:
		r.breaks(0, "statementTexts", fmt.Sprintf("is %q, and neither off nor normalized", f.StatementTexts))
	}
}

func parseBytes(text string) (int64, error) {
	if text == "" {
		return defaultBuffer, nil
	}
	unit := int64(1)
	number := text
	for suffix, size := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if before, found := strings.CutSuffix(text, suffix); found {
			number, unit = strings.TrimSpace(before), size
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("is %q, and not a number of bytes, KiB, MiB or GiB", text)
	}
	if n*unit < leastBuffer {
		return 0, fmt.Errorf("is %q, and less than 1MiB", text)
	}
	return n * unit, nil
}

func (r *rules) server(f fileServer) {
	s := Server{
		Name: f.Name, ExternalID: f.ExternalID, Engine: fleet.Engine(f.Engine), HostName: f.Host, Classify: f.Classify,
		Connection:  secretref.Reference{DSN: f.DSN, DSNFile: f.DSNFile, PasswordFile: f.PasswordFile},
		AssessEvery: defaultAssessEvery, Tags: f.Tags,
	}
	r.tags(f.line, f.Tags)
	s.Backups = r.backups(f.Backups, s.Engine)
	if s.ExternalID == "" {
		s.ExternalID = s.Name
	}
	if s.Name == "" {
		r.breaks(f.line, "name", "is missing")
	}
	r.name(f.line, "name", s.Name, mostLabel)
	r.name(f.line, "host", s.HostName, mostLabel)
	if s.ExternalID != "" && !isNameable(s.ExternalID) {
		r.breaks(f.line, "externalId", fmt.Sprintf("is %q, which has more than 200 characters or unprintable ones", cut(s.ExternalID, 50)))
	}
	if at, twice := r.names[s.ExternalID]; twice && s.ExternalID != "" {
		r.breaks(f.line, "externalId", fmt.Sprintf("%q is that of line %d, too; each server has its own", s.ExternalID, at))
	}
	r.names[s.ExternalID] = f.line
	switch s.Classify {
	case "":
		s.Classify = assessment.ClassifyNames
	case assessment.ClassifyOff, assessment.ClassifyNames, assessment.ClassifyValues:
	default:
		r.breaks(f.line, "classify", fmt.Sprintf("is %q, and none of off, names, values", s.Classify))
	}
	if f.AssessEvery != "" {
		every, err := time.ParseDuration(f.AssessEvery)
		switch {
		case f.AssessEvery == "never":
			every = 0
		case err != nil || every < leastAssessEvery:
			r.breaks(f.line, "assessEvery", fmt.Sprintf("is %q, and neither never nor a time like 6h of 15m at least", f.AssessEvery))
		}
		s.AssessEvery = every
	}
	if !servers.Known(s.Engine) {
		r.breaks(f.line, "engine", fmt.Sprintf("is %q, which the agent does not measure", f.Engine))
	} else if _, err := r.config.target(s); err != nil {
		r.breaks(f.line, s.Connection.MemberOf(err), err.Error())
	}
	r.config.Servers = append(r.config.Servers, s)
}

func (r *rules) tags(line int, tags map[string]string) {
	if len(tags) > fleet.MaxTags {
		r.breaks(line, "tags", fmt.Sprintf("has %d tags; at most %d are allowed", len(tags), fleet.MaxTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if !fleet.ValidTagKey(key) {
			r.breaks(line, "tags", "has an invalid key: it "+fleet.TagKeyRule)
		} else if !fleet.ValidTagValue(tags[key]) {
			r.breaks(line, "tags."+key, fleet.TagValueRule)
		}
	}
}

// target is a server as its secrets are now.
func (c *Config) target(s Server) (servers.Target, error) {
	dsn, err := c.secrets.Resolve(s.Connection)
	if err != nil {
		return servers.Target{}, err
	}
	return new(servers.Reach).OwnTarget(s.Engine, dsn)
}
