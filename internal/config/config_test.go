package config_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/domain/printable"
	"muster/internal/config"
)

// read is what a process with these arguments and this environment is set to.
func read(t *testing.T, arguments []string, environment ...string) (*config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("muster", pflag.ContinueOnError)
	c := config.BindEnvironment(flags, environment...)
	if err := flags.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return c, c.Validate()
}

func valid(t *testing.T, arguments []string, environment ...string) *config.Config {
	t.Helper()
	c, err := read(t, arguments, environment...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsMatchTheContract(t *testing.T) {
	t.Parallel()
	c := valid(t, nil)
	data, err := filepath.Abs("muster-data")
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]any{
		"listen":       {c.Listen, "127.0.0.1:8080"},
		"public URL":   {c.PublicURL, "http://127.0.0.1:8080"},
		"data":         {c.DataDir, data},
		"database":     {c.DatabaseURL, ""},
		"blobs":        {c.BlobURL, "file://" + data + "/blobs"},
		"key":          {c.SecretKeyFile, data + "/secret.key"},
		"outbox":       {c.Outbox(), data + "/outbox"},
		"organization": {c.Organization, "My organization"},
		"mail":         {c.SMTPURL + c.MailFrom, `"Muster" <muster@localhost>`},
		"limits":       {c.RateLimits, true},
		"host":         {c.CollectOwnHost, true},
		"cookies":      {c.InsecureCookies, false},
		"demo":         {c.Demo, false},
		"targets":      {len(c.TargetNetworks), 0},
		"lease":        {c.JobLease, 30 * time.Second},
		"retention":    {c.ReportRetention, time.Duration(0)},
		"log":          {c.LogFormat + c.LogLevel.String(), "textINFO"},
		"roles":        {fmt.Sprint(c.Roles), "[api projections workers collectors]"},
		"warnings":     {len(c.Warnings()), 0},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
}

func TestFlagOverEnvironmentOverDefault(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments   []string
		environment []string
		want        string
	}{
		"default":              {nil, nil, "My organization"},
		"environment":          {nil, []string{"MUSTER_ORGANIZATION=From variable"}, "From variable"},
		"flag":                 {[]string{"--organization=From flag"}, []string{"MUSTER_ORGANIZATION=From variable"}, "From flag"},
		"flag as the default":  {[]string{"--organization=My organization"}, []string{"MUSTER_ORGANIZATION=From variable"}, "My organization"},
		"empty is not set":     {nil, []string{"MUSTER_ORGANIZATION="}, "My organization"},
		"an equals sign in it": {nil, []string{"MUSTER_ORGANIZATION=a=b"}, "a=b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c := valid(t, test.arguments, test.environment...); c.Organization != test.want {
				t.Errorf("got %q, want %q", c.Organization, test.want)
			}
		})
	}
}

func TestSettingsAreParsedFromText(t *testing.T) {
	t.Parallel()
	c := valid(t, []string{
		"--demo", "--rate-limits=off", "--roles", "workers, api", "--report-retention=30d",
		"--trusted-proxies=10.1.2.3/8, ::1", "--target-networks=10.2.0.0/16,fd00::7/8,::ffff:192.0.2.1/120,::ffff:192.0.2.9", "--cors-origins=https://a.example,https://b.example:8443/",
		"--public-url=https://muster.example.org/", "--log-level=DEBUG", "--listen=:9000",
		"--budget-events=500", "--budget-token-share=100",
	}, "MUSTER_INSECURE_COOKIES=true", "MUSTER_JOB_LEASE=500ms", "MUSTER_COLLECT_OWN_HOST=off")
	for what, pair := range map[string][2]any{
		"demo":      {c.Demo, true},
		"limits":    {c.RateLimits, false},
		"budgets":   {c.Budgets, config.Budgets{Bytes: 20_000_000_000, Events: 500, OpenAlerts: 100_000, TokenShare: 100}},
		"cookies":   {c.InsecureCookies, true},
		"host":      {c.CollectOwnHost, false},
		"roles":     {fmt.Sprint(c.Roles, c.Roles.Has(config.API), c.Roles.Has(config.Collectors)), "[workers api] true false"},
		"retention": {c.ReportRetention, 720 * time.Hour},
		"lease":     {c.JobLease, 500 * time.Millisecond},
		"proxies":   {fmt.Sprint(c.TrustedProxies), "[10.0.0.0/8 ::1/128]"},
		"targets":   {fmt.Sprint(c.TargetNetworks), "[10.2.0.0/16 fd00::/8 192.0.2.0/24 192.0.2.9/32]"},
		"origins":   {fmt.Sprint(c.CORSOrigins), "[https://a.example https://b.example:8443]"},
		"public":    {c.PublicURL, "https://muster.example.org"},
		"level":     {c.LogLevel, slog.LevelDebug},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
}

// TestTheNameInEHLO is what is set, or says who asks as well as the public URL does. C6.
func TestTheNameInEHLO(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ publicURL, set, want string }{
		{"https://muster.example.org", "", "muster.example.org"},
		{"https://muster.example.org:8443", "", "muster.example.org"},
		{"https://muster.example.org.", "", "muster.example.org"},
		{"https://müster.example.org", "", "xn--mster-kva.example.org"},
		{"http://192.0.2.1:8080", "", "[192.0.2.1]"},
		{"http://[2001:db8::1]:8080", "", "[IPv6:2001:db8::1]"},
		{"http://muster:8080", "", "muster"},
		{"http://localhost:8080", "", ""}, // the machine's name
		{"http://127.0.0.1:8080", "", ""},
		{"http://[::1]:8080", "", ""},
		{"https://muster.example.org", "relay-7.example.net", "relay-7.example.net"},
		{"https://muster.example.org", "[192.0.2.1]", "[192.0.2.1]"},
		{"https://muster.example.org", "192.0.2.1", "[192.0.2.1]"},
		{"https://muster.example.org", "[IPv6:2001:DB8:0::1]", "[IPv6:2001:db8::1]"},
		{"https://muster.example.org", "::ffff:192.0.2.1", "[192.0.2.1]"},
	} {
		if c := valid(t, []string{"--public-url=" + test.publicURL, "--smtp-hello=" + test.set}); c.SMTPHello != test.want {
			t.Errorf("%s, %q: %q, want %q", test.publicURL, test.set, c.SMTPHello, test.want)
		}
	}
}

func TestEachWrongSettingIsRefused(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{
		"--listen=8080", "--listen=host:port", "--listen=:70000", "--public-url=muster.example.org",
		"--public-url=ftp://x", "--public-url=https://x/sub", "--public-url=https://x?y=1", "--data-dir=",
		"--roles=api,cook", "--roles=,", "--demo=perhaps", "--rate-limits=0.5", "--budget-bytes=0", "--budget-events=many", "--budget-open-alerts=-1", "--budget-token-share=101", "--budget-token-share=", "--job-lease=soon", "--job-lease=1ms",
		"--job-lease=", "--report-retention=-1d", "--report-retention=0s", "--report-retention=99999999d", "--trusted-proxies=10.0.0.0/40",
		"--cors-origins=*", "--cors-origins=https://a/b", "--database-url=mysql://h/d", "--database-url=host=h",
		"--database-url=postgres://one:5432,two:5433/d", "--database-url=postgres:///d?host=one,two", "--database-url=postgres://one,two/d?target_session_attrs=any",
		"--blob-url=blobs", "--measurements-url=http://h:8123/d", "--measurements-url=h:9000", "--measurements-url=clickhouse://u:12/3@h:9000/d", "--smtp-url=http://h", "--smtp-url=smtp://", "--smtp-hello=a b", "--smtp-hello=muster.example.org\r\nRSET", "--smtp-hello=-a.example", "--smtp-hello=[300.0.2.1]", "--smtp-hello=https://h", "--smtp-hello=fe80::1%eth0", "--mail-from=muster", "--organization= ",
		"--target-networks=10.0.0.0/40", "--target-networks=,", "--target-networks=internal", "--ops-listen=8081", "--ops-listen=:x", "--log-format=xml", "--log-level=loud",
		"--tsa-url=tsa.example.org", "--tsa-url=ftp://tsa.example.org/", "--tsa-url=https://user:secret@tsa.example.org/",
	} {
		_, err := read(t, []string{wrong})
		var invalid *config.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Problems) != 1 {
			t.Errorf("%s: %v", wrong, err)
			continue
		}
		if flag, _, _ := strings.Cut(wrong, "="); invalid.Problems[0].Flag != flag {
			t.Errorf("%s: blamed %+v", wrong, invalid.Problems[0])
		}
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := read(t, []string{"--listen=nowhere", "--admin-email=Ana <ana@example.org>"},
		"MUSTER_LOG_LEVEL=loud", "MUSTER_OIDC_CLIENT_ID=muster")
	want := `wrong settings: --listen (MUSTER_LISTEN) is "nowhere", not host:port; ` +
		`--log-level (MUSTER_LOG_LEVEL) is "loud", not debug, info, warn or error; ` +
		`--admin-email (MUSTER_ADMIN_EMAIL) is "Ana <ana@example.org>", not an address such as ana@example.org; ` +
		`--admin-email (MUSTER_ADMIN_EMAIL) needs --admin-password-file too; ` +
		`--oidc-client-id (MUSTER_OIDC_CLIENT_ID) needs --oidc-issuer too`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestPasswordsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	c := valid(t, []string{"--database-url=postgres://u:hunter2@one:5432,two/d?sslpassword=hunter2&target_session_attrs=read-write", "--smtp-url=smtp://u:hunter2@h",
		"--measurements-url=clickhouse://u:hunter2@h:9000,g:9000?cluster=c&password=hunter2"},
		"MUSTER_BLOB_URL=s3://bucket?awssdk=v2&secret_key=hunter2")
	var logged bytes.Buffer
	c.LoggerOn(&logged).Info("start", "settings", c)
	shown := logged.String() + c.String() + fmt.Sprintf("%v %+v %#v %s %q %v", c, c, c, c, c, *c)
	if strings.Contains(shown, "hunter2") {
		t.Errorf("a password shows in %s", shown)
	}
	for _, part := range []string{"postgres://u:xxxxx@one:5432,two/d", "MUSTER_DATABASE_URL=", "smtp://u:xxxxx@h", "clickhouse://u:xxxxx@h:9000,g:9000?cluster=c", "s3://bucket"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q does not show", part)
		}
	}
	for _, wrong := range []string{"--database-url=postgres://u:hunter2@h:x/d", "--smtp-url=http://u:hunter2@h", "--database-url=postgres://u:hunter2%zz@h",
		"--measurements-url=clickhouse://u:12/hunter2@h:9000/d", "--database-url=postgres://u:12/hunter2@h/d",
		"--database-url=postgres://u:1?hunter2@one,two/d?target_session_attrs=primary", "--smtp-url=smtp://u:1#hunter2@h", "--measurements-url=clickhouse://u:hunter2%zz@h:9000,g:9000/d"} {
		if _, err := read(t, []string{wrong}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestTheLogEscapesControlCharacters: text from a sender cannot move a terminal's cursor.
func TestTheLogEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		var logged bytes.Buffer
		valid(t, []string{"--log-format=" + format}).LoggerOn(&logged).With("a", "\u009b2J").Warn("b\u202e", "c", "\x1b[2J", "error", errors.New("d\u2066\r"))
		if rest := strings.TrimSuffix(logged.String(), "\n"); !printable.Name(rest) || strings.Contains(rest, "202e") || strings.Contains(rest, "x1b") {
			t.Errorf("%s: %q", format, rest)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments   []string
		environment []string
		want        string
	}{
		"typo":               {nil, []string{"MUSTER_DATABSE_URL=x"}, "there is no setting MUSTER_DATABSE_URL; is MUSTER_DATABASE_URL meant?"},
		"no such thing":      {nil, []string{"MUSTER_COLOUR_OF_THE_SKY=x"}, "there is no setting MUSTER_COLOUR_OF_THE_SKY"},
		"others' variables":  {nil, []string{"MUSTERING=x", "PATH=/bin"}, ""},
		"plain HTTP":         {[]string{"--public-url=http://muster.lan"}, nil, "people cannot sign in at http://muster.lan: "},
		"plain HTTP, wanted": {[]string{"--public-url=http://muster.lan", "--insecure-cookies"}, nil, ""},
		"this machine":       {[]string{"--listen=:8080"}, nil, ""},
		"plain provider":     {[]string{"--oidc-issuer=http://login.lan/", "--oidc-client-id=muster"}, nil, "--oidc-issuer http://login.lan/ is not encrypted"},
		"provider":           {[]string{"--oidc-issuer=https://login.lan/", "--oidc-client-id=muster"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(valid(t, test.arguments, test.environment...).Warnings(), "\n")
			if !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPortLeftToTheSystem(t *testing.T) {
	t.Parallel()
	given := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	c := valid(t, []string{"--listen=127.0.0.1:0"})
	c.Listening(given)
	if c.PublicURL != "http://127.0.0.1:4711" || c.Listen != "127.0.0.1:4711" {
		t.Errorf("%s, %s", c.PublicURL, c.Listen)
	}
	c = valid(t, []string{"--listen=127.0.0.1:0", "--public-url=https://muster.example.org"})
	c.Listening(given)
	if c.PublicURL != "https://muster.example.org" {
		t.Errorf("replaced by %s", c.PublicURL)
	}
}

func TestHelpNamesTheVariableOfEveryFlag(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("muster", pflag.ContinueOnError)
	config.Bind(flags)
	help := flags.FlagUsages()
	flags.VisitAll(func(f *pflag.Flag) {
		variable := "[MUSTER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")) + "]"
		if !strings.Contains(help, variable) {
			t.Errorf("--%s does not name %s", f.Name, variable)
		}
	})
	for _, line := range []string{"--listen address", "(default 127.0.0.1:8080)", "--job-lease time", "(default 30s)"} {
		if !strings.Contains(help, line) {
			t.Errorf("the help does not say %q:\n%s", line, help)
		}
	}
}

// TestSubcommandsSeePersistentFlags guards against cobra's copies of flag sets.
func TestSubcommandsSeePersistentFlags(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "muster"}
	c := config.BindEnvironment(root.PersistentFlags(), "MUSTER_LISTEN=:1")
	root.AddCommand(&cobra.Command{Use: "serve", RunE: func(*cobra.Command, []string) error { return c.Validate() }})
	root.SetArgs([]string{"serve", "--listen", ":2", "--demo"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":2" || !c.Demo {
		t.Errorf("listen %s, demo %v", c.Listen, c.Demo)
	}
}

func TestLogFormatAndLevel(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	logger := valid(t, []string{"--log-format=json", "--log-level=warn"}).LoggerOn(&logged)
	logger.Info("unheard")
	logger.Warn("heard")
	if got := logged.String(); !strings.HasPrefix(got, "{") || !strings.Contains(got, "heard") || strings.Contains(got, "unheard") {
		t.Errorf("logged %s", got)
	}
}

func TestTheListenerForOperators(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"":                                       " false",
		"--roles=api,workers":                    " false",
		"--roles=workers":                        "127.0.0.1:8081 false",
		"--roles=workers --ops-listen=off":       " true",
		"--roles=workers --ops-listen=:9000":     ":9000 true",
		"--ops-listen=127.0.0.1:9000":            "127.0.0.1:9000 true",
		"--roles=workers --ops-listen=OFF":       " true",
		"--roles=projections,collectors,workers": "127.0.0.1:8081 false",
	} {
		address, set := valid(t, strings.Fields(arguments)).OpsAddress()
		if got := fmt.Sprint(address, " ", set); got != want {
			t.Errorf("%q is seen at %q, want %q", arguments, got, want)
		}
	}
}
