package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// setting is one row of the table.
type setting struct {
	flag     string
	fallback string // empty: none, or it follows from other settings
	help     string // the word in backquotes stands for the value
	isSwitch bool   // the flag alone means on
	read     func(text string) error
	show     func() string // without passwords
}

func (s setting) variable() string { return variable(s.flag) }

func variable(flag string) string {
	return "MUSTER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// row is a setting whose text parse turns into a field.
func row[T any](flag, fallback, help string, field *T, parse func(string) (T, error)) setting {
	return setting{
		flag: flag, fallback: fallback, help: help,
		read: func(text string) (err error) {
			*field, err = parse(text)
			return err
		},
		show: func() string { return fmt.Sprint(*field) },
	}
}

// onOff is a setting that is on or off.
func onOff(flag, fallback, help string, field *bool) setting {
	s := row(flag, fallback, help, field, onOrOff)
	s.isSwitch = true
	return s
}

// confidential is a URL whose password shows nowhere.
func confidential(flag, help string, field *string, schemes ...string) setting {
	s := row(flag, "", help, field, optional(secretURL(schemes...)))
	s.show = func() string { return redacted(*field) }
	return s
}

// shortestLease leaves room for the heartbeat, at a third of it.
const shortestLease = 100 * time.Millisecond

// settings is the table, whose rows fill c.
func settings(c *Config) []setting {
	return slices.Concat(servingSettings(c), storingSettings(c), provingSettings(c), peopleSettings(c))
}

// servingSettings say what a process does and how it is reached.
func servingSettings(c *Config) []setting {
	return []setting{
		row("listen", defaultListen, "`address` to listen on; :8080 for all interfaces", &c.Listen, address),
		row("public-url", "", "`URL` of this installation in mails and links; set it behind a proxy (default http://<listen>)",
			&c.PublicURL, optional(origin)),
		row("ops-listen", "", "`address` for this process's /healthz, /readyz and /metrics, without sign-in; or off (default 127.0.0.1:8081 without the role api, else off)",
			&c.OpsListen, optional(addressOrOff)),
		row("roles", "api,projections,workers,collectors", "comma-separated `list` of roles of this process", &c.Roles, roles),
		onOff("demo", "off", "fill a demo organization; every page says that it is a demo", &c.Demo),
		row("job-lease", "30s", "`time` without a heartbeat until a worker's job goes to another worker", &c.JobLease, atLeast(shortestLease)),
		onOff("mcp", "off", "let AI assistants read with API tokens, by the Model Context Protocol at /mcp", &c.MCP),
		onOff("rate-limits", "on", "limit requests and creations; turn this off for load tests only", &c.RateLimits),
		row("budget-bytes", "20000000000", "`bytes` of unpacked bodies that an organization's senders may send in a day", &c.Budgets.Bytes, positive(math.MaxInt64)),
		row("budget-events", "1000000", "`events` that an organization's senders may cause in a day", &c.Budgets.Events, positive(math.MaxInt64)),
		row("budget-open-alerts", "100000", "`alerts` that may be open in an organization before new ones are refused", &c.Budgets.OpenAlerts, positive(math.MaxInt64)),
		row("budget-token-share", "10", "`percent` of each of these budgets that one token may use", &c.Budgets.TokenShare, positive(100)),
		onOff("collect-own-host", "on", "measure this machine, like an agent", &c.CollectOwnHost),
		row("target-networks", "", "`networks` in which servers may be registered, such as 10.0.0.0/8,fd00::/8 (default all except link-local, multicast and unspecified)",
			&c.TargetNetworks, optional(someNetworks)),
		row("channel-networks", "", "`networks` to which notifications may be sent, such as 10.0.0.0/8 (default all except private, loopback, link-local, multicast and unspecified)",
			&c.ChannelNetworks, optional(someNetworks)),
		row("trusted-proxies", "", "`networks` of proxies whose X-Forwarded-For Muster trusts, such as 10.0.0.0/8,::1 (default none)",
			&c.TrustedProxies, networks),
		row("cors-origins", "", "`origins` of other sites whose pages may call the API, comma-separated (default none)", &c.CORSOrigins, origins),
		onOff("insecure-cookies", "off", "allow sign-in over plain HTTP from other machines; anyone on the network can read the session", &c.InsecureCookies),
		row("log-format", "text", "`text or json`, on standard error", &c.LogFormat, oneOf("text", "json")),
		row("log-level", "info", "lowest `level` that is logged: debug, info, warn, error", &c.LogLevel, level),
	}
}

// storingSettings say where things are kept.
func storingSettings(c *Config) []setting {
	return []setting{
		row("data-dir", "./muster-data", "`directory` for the private database, files, mails and the secret key", &c.DataDir, directory),
		confidential("database-url", "`URL` of the database: PostgreSQL 15 or newer, not behind PgBouncer in transaction mode (default a private server in the data directory)",
			&c.DatabaseURL, "postgres", "postgresql"),
		confidential("blob-url", "`URL` of the store for reports, file:///… or s3://… (default <data-dir>/blobs)", &c.BlobURL),
		confidential("measurements-url", "`URL` of ClickHouse for measurements of closed hours, clickhouse://user:password@host:9000[,host…]/database[?cluster=NAME&secure=true] (default in the database)",
			&c.MeasurementsURL, "clickhouse"),
		row("secret-key-file", "", "`file` with the secret keys, one per line, the first is current; created at first start, shared by all processes (default <data-dir>/secret.key)",
			&c.SecretKeyFile, optional(path)),
		row("feed-key", "", "public minisign `key`; 'muster feed update' then refuses files without its signature (default none)",
			&c.FeedKey, optional(publicKey)),
		row("report-retention", "", "`time` for which reports are kept, such as 30d or 90s (default each organization's own setting, 30 days)",
			&c.ReportRetention, optional(atLeast(time.Millisecond))),
	}
}

// provingSettings say by what strangers are convinced.
func provingSettings(c *Config) []setting {
	return []setting{
		row("signing-cert-file", "", "PEM `file` with the certificate that signs PDFs, and its chain (default derived from the secret key)",
			&c.SigningCert, optional(path)),
		row("signing-key-file", "", "PEM `file` with the key of that certificate: RSA, or ECDSA on P-256 or P-384 (default derived from the secret key)", &c.SigningKey, optional(path)),
		onOff("proof-public", "off", "let anyone read the logs' checkpoints and tiles (/proof); they contain digests, no content", &c.ProofPublic),
		row("tsa-url", "", "`URL` of an RFC 3161 service that time-stamps proofs; it receives digests, no content, and reports do not wait for it (default none)",
			&c.TSAURL, optional(webURL)),
		row("witnesses", "", "`file` of witnesses that cosign checkpoints, one per line: C2SP verifier key and URL (default none)",
			&c.Witnesses, optional(path)),
	}
}

// peopleSettings say who signs in and where mail goes.
func peopleSettings(c *Config) []setting {
	return []setting{
		row("organization", "My organization", "`name` of the organization that the first start creates", &c.Organization, nonEmpty),
		row("admin-email", "", "`address` of the first administrator, created at start if there is none (default none)", &c.AdminEmail, optional(bareMailbox)),
		row("admin-password-file", "", "`file` with that administrator's password (default none)", &c.AdminPasswordFile, optional(path)),
		confidential("smtp-url", "`URL` of the mail server, smtp://user:password@host:587 or smtps://… (default files in <data-dir>/outbox)",
			&c.SMTPURL, "smtp", "smtps"),
		row("smtp-hello", "", "`name` or bracketed address, such as [192.0.2.1], that Muster gives the mail server in EHLO (default the host of the public URL)", &c.SMTPHello, optional(helloName)),
		row("mail-from", "Muster <muster@localhost>", "`sender` of all mails", &c.MailFrom, mailbox),
		row("oidc-issuer", "", "`URL` of an OpenID Connect provider for sign-in, spelled exactly as its issuer (default none)",
			&c.OIDCIssuer, optional(webURL)),
		row("oidc-client-id", "", "`ID` of Muster as a client of that provider (default none)", &c.OIDCClientID, optional(nonEmpty)),
		row("oidc-client-secret-file", "", "`file` with the client secret at that provider (default none: a public client)",
			&c.OIDCClientSecretFile, optional(path)),
	}
}
