package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"
)

// setting is one row of the table.
type setting struct {
	flag     string
	fallback string // empty: none, or it follows from other settings
	help     string // the word in backquotes stands for the value
	isSwitch bool   // the flag alone means on
	read     func(c *Config, text string) error
	show     func(c *Config) string // without passwords
}

func (s setting) variable() string { return variable(s.flag) }

func variable(flag string) string {
	return "MUSTER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// row is a setting whose text parse turns into a field.
func row[T any](flag, fallback, help string, field func(*Config) *T, parse func(string) (T, error)) setting {
	return setting{
		flag: flag, fallback: fallback, help: help,
		read: func(c *Config, text string) (err error) {
			*field(c), err = parse(text)
			return err
		},
		show: func(c *Config) string { return fmt.Sprint(*field(c)) },
	}
}

// onOff is a setting that is on or off.
func onOff(flag, fallback, help string, field func(*Config) *bool) setting {
	s := row(flag, fallback, help, field, onOrOff)
	s.isSwitch = true
	return s
}

// confidential is a URL whose password shows nowhere.
func confidential(flag, help string, field func(*Config) *string, schemes ...string) setting {
	s := row(flag, "", help, field, optional(secretURL(schemes...)))
	s.show = func(c *Config) string { return redacted(*field(c)) }
	return s
}

// shortestLease leaves room for the heartbeat, at a third of it.
const shortestLease = 100 * time.Millisecond

// settings is the table.
func settings() []setting {
	return append(append(servingSettings(), storingSettings()...), peopleSettings()...)
}

// servingSettings say what a process does and how it is reached.
func servingSettings() []setting {
	return []setting{
		row("listen", "127.0.0.1:8080", "`address` to listen on; :8080 for all interfaces",
			func(c *Config) *string { return &c.Listen }, address),
		row("public-url", "", "`URL` under which people reach this installation, for links in mails (default http://<listen>)",
			func(c *Config) *string { return &c.PublicURL }, optional(origin)),
		row("ops-listen", "", "`address` for /healthz, /readyz and /metrics of this process, without sign-in; or off (default 127.0.0.1:8081 without the role api, else off)",
			func(c *Config) *string { return &c.OpsListen }, optional(addressOrOff)),
		row("roles", "api,projections,workers,collectors", "what this process does, as a comma-separated `list`",
			func(c *Config) *Roles { return &c.Roles }, roles),
		onOff("demo", "off", "fill a demo organization, labelled as such everywhere",
			func(c *Config) *bool { return &c.Demo }),
		row("job-lease", "30s", "`time` without a sign of life after which a worker's job goes to another",
			func(c *Config) *time.Duration { return &c.JobLease }, atLeast(shortestLease)),
		onOff("rate-limits", "on", "limit requests and creations; off is for load tests",
			func(c *Config) *bool { return &c.RateLimits }),
		onOff("collect-own-host", "on", "measure the machine this runs on, as an agent would",
			func(c *Config) *bool { return &c.CollectOwnHost }),
		row("target-networks", "", "`networks` in which servers may be registered, such as 10.0.0.0/8,fd00::/8 (default all but link-local, multicast and unspecified)",
			func(c *Config) *[]netip.Prefix { return &c.TargetNetworks }, optional(someNetworks)),
		row("trusted-proxies", "", "`networks` of proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,::1 (default none)",
			func(c *Config) *[]netip.Prefix { return &c.TrustedProxies }, networks),
		row("cors-origins", "", "`origins` of other sites whose pages may call the API, comma-separated (default none)",
			func(c *Config) *[]string { return &c.CORSOrigins }, origins),
		onOff("insecure-cookies", "off", "sign people in over plain HTTP from other machines, where anybody between can read along",
			func(c *Config) *bool { return &c.InsecureCookies }),
		row("log-format", "text", "`text or json`, on standard error",
			func(c *Config) *string { return &c.LogFormat }, oneOf("text", "json")),
		row("log-level", "info", "the least `level` that is logged: debug, info, warn, error",
			func(c *Config) *slog.Level { return &c.LogLevel }, level),
	}
}

// storingSettings say where things are kept.
func storingSettings() []setting {
	return []setting{
		row("data-dir", "./muster-data", "`directory` for the private database, files, mails and the secret key",
			func(c *Config) *string { return &c.DataDir }, directory),
		confidential("database-url", "`URL` of the database, PostgreSQL 15 or newer (default a private server in the data directory)",
			func(c *Config) *string { return &c.DatabaseURL }, "postgres", "postgresql"),
		confidential("blob-url", "`URL` of the store for reports, file:///… or s3://… (default <data-dir>/blobs)",
			func(c *Config) *string { return &c.BlobURL }),
		row("secret-key-file", "", "`file` with the secret key, made at first start; all processes share one (default <data-dir>/secret.key)",
			func(c *Config) *string { return &c.SecretKeyFile }, optional(path)),
		row("report-retention", "", "`time` reports are kept, such as 30d or 90s (default as each organization has set it)",
			func(c *Config) *time.Duration { return &c.ReportRetention }, optional(atLeast(time.Millisecond))),
	}
}

// peopleSettings say who signs in and where mail goes.
func peopleSettings() []setting {
	return []setting{
		row("organization", "My organization", "`name` of the organization that the first start makes",
			func(c *Config) *string { return &c.Organization }, nonEmpty),
		row("admin-email", "", "`address` of a first administrator, made at start where there is none",
			func(c *Config) *string { return &c.AdminEmail }, optional(bareMailbox)),
		row("admin-password-file", "", "`file` with that administrator's password",
			func(c *Config) *string { return &c.AdminPasswordFile }, optional(path)),
		confidential("smtp-url", "`URL` of the mail server, smtp://user:password@host:587 or smtps://… (default files in <data-dir>/outbox)",
			func(c *Config) *string { return &c.SMTPURL }, "smtp", "smtps"),
		row("mail-from", "Muster <muster@localhost>", "`sender` of all mails",
			func(c *Config) *string { return &c.MailFrom }, mailbox),
		row("oidc-issuer", "", "`URL` of an OpenID Connect provider for sign-in, exactly as it spells its issuer (default none)",
			func(c *Config) *string { return &c.OIDCIssuer }, optional(webURL)),
		row("oidc-client-id", "", "`name` of Muster at that provider",
			func(c *Config) *string { return &c.OIDCClientID }, optional(nonEmpty)),
		row("oidc-client-secret-file", "", "`file` with Muster's secret at that provider (default none: a public client)",
			func(c *Config) *string { return &c.OIDCClientSecretFile }, optional(path)),
	}
}
