package config

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"muster/domain/printable"
)

// Config is what an operator has set. Its fields are valid after Validate.
type Config struct {
	Listen    string // host:port
	PublicURL string // without a slash at its end
	// AddressSet says that --listen or --public-url were set, so that PublicURL is no default.
	AddressSet bool
	OpsListen  string // host:port; empty: OpsAddress has the default
	DataDir    string // absolute
	Roles      Roles
	Demo       bool

	DatabaseURL string // empty: a private PostgreSQL in DataDir
	BlobURL     string // of a gocloud.dev bucket
	// MeasurementsURL is where measurements are kept that are over: a clickhouse:// URL,
	// which its reader judges; empty: in the database.
	MeasurementsURL string
	SecretKeyFile   string
	SigningCert     string // PEM file of the operator's certificate for PDFs; empty: made from the secret key
	SigningKey      string // PEM file of its key
	ProofPublic     bool   // anyone may read checkpoints and tiles
	TSAURL          string // RFC 3161 service; empty: nothing is stamped
	Witnesses       string // file of witnesses; empty: none are asked
	FeedKey         string // of minisign, that updates of the feed are signed with; empty: they need not be

	Organization      string // name of the first one
	AdminEmail        string // with AdminPasswordFile, makes the first administrator
	AdminPasswordFile string

	SMTPURL   string // empty: mails become files in Outbox
	SMTPHello string // the name in EHLO: a host's, or an address as [192.0.2.1]
	MailFrom  string // an RFC 5322 address with a name

	JobLease        time.Duration
	ReportRetention time.Duration // 0: as each organization has set it
	MCP             bool          // assistants may call /mcp
	RateLimits      bool
	Budgets         Budgets
	CollectOwnHost  bool
	TargetNetworks  []netip.Prefix // of servers registered by DSN; none: all but link-local, multicast and unspecified
	ChannelNetworks []netip.Prefix // of channels; none: as TargetNetworks, and without loopback and private ones

	TrustedProxies  []netip.Prefix // whose X-Forwarded-For counts
	CORSOrigins     []string       // exact origins
	InsecureCookies bool

	OIDCIssuer           string
	OIDCClientID         string
	OIDCClientSecretFile string

	LogFormat string // text, json
	LogLevel  slog.Level
	LogTo     io.Writer // no setting; nil: standard error

	flags   *pflag.FlagSet
	environ func() []string
}

// ProcessRole is one kind of work that a serve process does.
type ProcessRole string

// The roles. A process without some leaves them to others on the same database.
const (
	API         ProcessRole = "api"
	Projections ProcessRole = "projections"
	Workers     ProcessRole = "workers"
	Collectors  ProcessRole = "collectors"
)

// Roles is what one process does.
type Roles []ProcessRole

// Budgets are what each organization's senders may use: bytes and events of a day, open alerts,
// and the percent of each for one token.
type Budgets struct{ Bytes, Events, OpenAlerts, TokenShare int64 }

// allRoles is every role, which is also the default.
func allRoles() Roles { return Roles{API, Projections, Workers, Collectors} }

// Has says whether the process has a role.
func (r Roles) Has(role ProcessRole) bool { return slices.Contains(r, role) }

// Bind adds a flag for every setting to flags. Call Validate when they have been
// parsed.
func Bind(flags *pflag.FlagSet) *Config {
	c := &Config{flags: flags, environ: os.Environ}
	for _, s := range settings(c) {
		flag := flags.VarPF(&value{text: s.fallback}, s.flag, "", s.help+" ["+s.variable()+"]")
		if s.isSwitch {
			flag.NoOptDefVal = onText
		}
	}
	return c
}

// Validate reads flags and environment into c. Everything that is wrong is in
// one *InvalidError.
func (c *Config) Validate() error {
	environment := c.environment()
	texts := make(map[string]string)
	var problems []WrongSetting
	for _, s := range settings(c) {
		text := c.flags.Lookup(s.flag).Value.String()
		if fromEnvironment := environment[s.variable()]; fromEnvironment != "" && !c.flags.Changed(s.flag) {
			text = fromEnvironment
		}
		text = strings.TrimSpace(text)
		texts[s.flag] = text
		if err := s.read(text); err != nil {
			problems = append(problems, problem(s.flag, err.Error()))
		}
	}
	for _, pair := range []struct{ flag, needs string }{
		{"admin-email", "admin-password-file"},
		{"admin-password-file", "admin-email"},
		{"oidc-issuer", "oidc-client-id"},
		{"oidc-client-id", "oidc-issuer"},
		{"oidc-client-secret-file", "oidc-issuer"},
		{"signing-cert-file", "signing-key-file"},
		{"signing-key-file", "signing-cert-file"},
	} {
		if texts[pair.flag] != "" && texts[pair.needs] == "" {
			problems = append(problems, problem(pair.flag, "needs --"+pair.needs+" too"))
		}
	}
	if len(problems) > 0 {
		return &InvalidError{Problems: problems}
	}
	c.derive()
	return nil
}

// derive fills what follows from other settings.
func (c *Config) derive() {
	blobs := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(c.DataDir, "blobs"))}
	c.AddressSet = c.PublicURL != "" || c.Listen != defaultListen
	c.PublicURL = cmp.Or(c.PublicURL, "http://"+browsable(c.Listen))
	c.SMTPHello = cmp.Or(c.SMTPHello, helloOf(c.PublicURL))
	c.SecretKeyFile = cmp.Or(c.SecretKeyFile, filepath.Join(c.DataDir, "secret.key"))
	c.BlobURL = cmp.Or(c.BlobURL, blobs.String())
}

// Listening replaces a listen address whose port was left to the system (:0) by
// the one it gave, also in a public URL that was not set.
func (c *Config) Listening(address net.Addr) {
	if c.PublicURL == "http://"+browsable(c.Listen) {
		c.PublicURL = "http://" + browsable(address.String())
	}
	c.Listen = address.String()
}

// defaultListen is where Muster listens unless it is told otherwise.
const defaultListen = "127.0.0.1:8080"

// defaultOpsListen is where a process without the API is looked at by operators.
const defaultOpsListen = "127.0.0.1:8081"

// opsOff is how an operator says that there is no such address.
const opsOff = "off"

// OpsAddress is where this process shows operators how it is; empty: nowhere. One
// that was not set is given up where it is taken.
func (c *Config) OpsAddress() (address string, set bool) {
	switch {
	case c.OpsListen == opsOff:
		return "", true
	case c.OpsListen != "":
		return c.OpsListen, true
	case c.Roles.Has(API):
		return "", false // it has all of that at its own address
	}
	return defaultOpsListen, false
}

// Outbox is the directory of mails where no mail server is set.
func (c *Config) Outbox() string { return filepath.Join(c.DataDir, "outbox") }

// Logger is the process's logger, on standard error or wherever LogTo says.
func (c *Config) Logger() *slog.Logger {
	w := c.LogTo
	if w == nil {
		w = os.Stderr
	}
	options := &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: legibly}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// legibly lets nothing that somebody sent move the cursor of who reads the log, or turn
// a line around. What slog's own text form quotes is quoted still.
func legibly(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(printable.Text(v))
	case error:
		a.Value = slog.StringValue(printable.Text(v.Error()))
	}
	return a
}

// String lists the settings, one a line, without passwords.
func (c Config) String() string {
	var lines strings.Builder
	for _, s := range settings(&c) {
		fmt.Fprintf(&lines, "%s=%s\n", s.variable(), s.show())
	}
	return lines.String()
}

// Format prints String for every verb, so that no %+v shows a password.
func (c Config) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, c.String()) }

// LogValue logs the settings without passwords.
func (c Config) LogValue() slog.Value {
	var attributes []slog.Attr
	for _, s := range settings(&c) {
		attributes = append(attributes, slog.String(s.flag, s.show()))
	}
	return slog.GroupValue(attributes...)
}

func (c *Config) environment() map[string]string {
	variables := make(map[string]string)
	for _, pair := range c.environ() {
		name, text, _ := strings.Cut(pair, "=")
		variables[name] = text
	}
	return variables
}

// WrongSetting is one wrong setting.
type WrongSetting struct {
	Flag, Variable string
	Reason         string
}

func problem(flag, reason string) WrongSetting {
	return WrongSetting{Flag: "--" + flag, Variable: variable(flag), Reason: reason}
}

// InvalidError holds everything that is wrong with the settings.
type InvalidError struct {
	Problems []WrongSetting
}

func (e *InvalidError) Error() string {
	sentences := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		sentences[i] = fmt.Sprintf("%s (%s) %s", p.Flag, p.Variable, p.Reason)
	}
	return "wrong settings: " + strings.Join(sentences, "; ")
}

// onText is what a switch means that is given without a value.
const onText = "on"

// value is a flag's text. It is read by Validate, not as it is parsed, so that
// one run tells of all that is wrong, from flags and environment alike.
type value struct{ text string }

// String, Set and Type make value a pflag.Value.
func (v *value) String() string { return v.text }

// Set keeps the text.
func (v *value) Set(text string) error {
	v.text = text
	return nil
}

// Type shows in the help where the usage names no placeholder.
func (v *value) Type() string { return "on|off" }
