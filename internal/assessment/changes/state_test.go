package changes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/servers"
)

// told is a difference in a line.
func told(differ []difference) string {
	var lines []string
	for _, d := range differ {
		k, before, after := d.either(), "-", "-"
		if text := d.before.Shown(); text != nil {
			before = *text
		}
		if text := d.after.Shown(); text != nil {
			after = *text
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s>%s", k.Kind, k.called(), before, after)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func plain(i Item) string { return i.Value }

func items(kind fleet.ChangeKind, database string, pairs ...string) (out []Item) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, Item{Scope: Scope{kind, database}, Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func saw(all ...[]Item) (s State) {
	for _, list := range all {
		s.Items = append(s.Items, list...)
		if len(list) > 0 && !slices.Contains(s.Seen, list[0].Scope) {
			s.Seen = append(s.Seen, list[0].Scope)
		}
	}
	return s
}

func empty(s State, seen ...Scope) State {
	s.Seen = append(s.Seen, seen...)
	return s
}

func blind(s State, scopes ...Scope) State {
	s.Blind = append(s.Blind, scopes...)
	return s
}

// TestDifferencesBetweenLooks: each case is looks one after another, and the changes that the last one reports.
func TestDifferencesBetweenLooks(t *testing.T) {
	t.Parallel()
	const setting, role, hba, extension = fleet.ChangedSetting, fleet.ChangedRole, fleet.ChangedHBA, fleet.ChangedExtension
	memory := func(value string) []Item {
		return []Item{{Scope: Scope{Kind: setting}, Name: "work_mem", Value: value, Unit: "kB"}}
	}
	secret := func(value string) []Item {
		return []Item{{Scope: Scope{Kind: setting}, Name: "archive_command", Value: value, Secret: true}}
	}
	runs := func(since string) State {
		var s State
		at, err := time.Parse(time.RFC3339, since)
		if err != nil {
			t.Fatal(err)
		}
		s.startedAt(&at)
		return s
	}
	unknown := func() (s State) { s.startedAt(nil); return s }
	is := func(role string) (s State) { s.Answered(servers.Identity{Role: role}); return s }
	for name, c := range map[string]struct {
		looks []State
		want  string
	}{
		"a restart":                        {[]State{runs("2026-11-20T08:00:00Z"), runs("2026-11-20T09:00:00Z")}, "start Started 2026-11-20T08:00:00Z>2026-11-20T09:00:00Z"},
		"a start by another clock":         {[]State{runs("2026-11-20T08:00:00Z"), runs("2026-11-20T08:00:45Z"), runs("2026-11-20T08:01:30Z")}, ""},
		"a restart that is seen late":      {[]State{runs("2026-11-20T08:00:00Z"), unknown(), runs("2026-11-20T09:00:00Z")}, "start Started 2026-11-20T08:00:00Z>2026-11-20T09:00:00Z"},
		"a failover":                       {[]State{is("primary"), is("standby")}, "replication Role in replication primary>standby"},
		"a failover that is seen late":     {[]State{is("standby"), is(""), is("primary")}, "replication Role in replication standby>primary"},
		"the first look that tells a role": {[]State{is(""), is("primary")}, ""},
		"the first look":                   {[]State{saw(memory("4096"))}, ""},
		"nothing":                          {[]State{saw(memory("4096")), saw(memory("4096"))}, ""},
		"a setting, with its unit":         {[]State{saw(memory("4096")), saw(memory("8192"))}, "setting work_mem 4096 kB>8192 kB"},
		"a secret":                         {[]State{saw(secret("cp a")), saw(secret("cp b"))}, "setting archive_command ->-"},
		"a setting that nobody saw before": {[]State{saw(memory("1")), saw(memory("1"), items(setting, "", "jit", "on"))}, ""},
		"a setting that is not seen once":  {[]State{saw(memory("1"), items(setting, "", "jit", "on")), saw(memory("1")), saw(memory("1"), items(setting, "", "jit", "off"))}, "setting jit on>off"},
		"a role came":                      {[]State{saw(items(role, "", "a", "LOGIN")), saw(items(role, "", "a", "LOGIN", "b", "NOLOGIN"))}, "role b ->NOLOGIN"},
		"the first role came":              {[]State{empty(State{}, Scope{Kind: role}), saw(items(role, "", "a", "LOGIN"))}, "role a ->LOGIN"},
		"a role went":                      {[]State{saw(items(role, "", "a", "LOGIN", "b", "x")), saw(items(role, "", "a", "LOGIN"))}, "role b x>-"},
		"the last role went":               {[]State{saw(items(role, "", "a", "x")), empty(State{}, Scope{Kind: role})}, "role a x>-"},
		"could not look":                   {[]State{saw(items(hba, "", "l", "l")), blind(State{}, Scope{Kind: hba})}, ""},
		"looks again, it is there":         {[]State{saw(items(hba, "", "l", "l")), blind(State{}, Scope{Kind: hba}), saw(items(hba, "", "l", "l"))}, ""},
		"looks again, it is gone":          {[]State{saw(items(hba, "", "l", "l")), blind(State{}, Scope{Kind: hba}), empty(State{}, Scope{Kind: hba})}, "hba l l>-"},
		"the first look that may":          {[]State{blind(State{}, Scope{Kind: hba}), saw(items(hba, "", "l", "l"))}, ""},
		"lines in another order":           {[]State{saw(items(hba, "", "l", "l", RuleOrder, "1")), saw(items(hba, "", "l", "l", RuleOrder, "2"))}, "hba order of the lines 1>2"},
		"another line":                     {[]State{saw(items(hba, "", "l", "l", RuleOrder, "1")), saw(items(hba, "", "l", "l", "m", "m", RuleOrder, "2"))}, "hba m ->m"},
		"an extension":                     {[]State{saw(items(extension, "app", "plpgsql", "1")), saw(items(extension, "app", "plpgsql", "1", "pgcrypto", "1.3"))}, "extension pgcrypto in app ->1.3"},
		"the same name elsewhere":          {[]State{saw(items(extension, "a", "x", "1"), items(extension, "b", "x", "1")), saw(items(extension, "a", "x", "1"), items(extension, "b", "x", "2"))}, "extension x in b 1>2"},
		"a new database":                   {[]State{saw(items(extension, "app", "x", "1")), saw(items(extension, "app", "x", "1"), items(extension, "new", "x", "1"))}, ""},
		"a dropped database":               {[]State{saw(items(extension, "app", "x", "1"), items(extension, "old", "x", "1")), saw(items(extension, "app", "x", "1"))}, ""},
		"a closed database":                {[]State{saw(items(extension, "app", "x", "1")), blind(State{}, Scope{extension, "app"}), saw(items(extension, "app", "x", "2"))}, "extension x in app 1>2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var now known
			var differ []difference
			for _, look := range c.looks {
				now, differ = now.after(look, plain)
			}
			if got := told(differ); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestDifferencesAgainstBruteForce: a server changes at random, and looks see parts of
// it. Beside it each scope is remembered whole, as it was when it was last seen.
func TestDifferencesAgainstBruteForce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(1, seed))
		scopes := []Scope{{Kind: fleet.ChangedRole}, {Kind: fleet.ChangedGrant}, {fleet.ChangedExtension, "a"}, {fleet.ChangedExtension, "b"}, {fleet.ChangedGrant, "a"}}
		server, remembered := map[Scope]map[string]string{}, map[Scope]map[string]string{}
		var now known
		for range 12 {
			var look State
			want := map[string]string{}
			for _, scope := range scopes {
				if server[scope] == nil || r.IntN(4) == 0 {
					server[scope] = map[string]string{}
					for range r.IntN(4) {
						server[scope][fmt.Sprint("n", r.IntN(4))] = fmt.Sprint(r.IntN(3))
					}
				}
				switch how := r.IntN(10); {
				case how == 0: // it is not there at all
					delete(remembered, scope)
				case how < 3:
					look.Blind = append(look.Blind, scope)
				default:
					look.Seen = append(look.Seen, scope)
					for name, value := range server[scope] {
						look.Items = append(look.Items, Item{Scope: scope, Name: name, Value: value})
					}
					for _, name := range []string{"n0", "n1", "n2", "n3"} {
						before, was := remembered[scope][name]
						after, is := server[scope][name]
						if remembered[scope] != nil && (was != is || before != after) {
							want[fmt.Sprint(scope, name)] = fmt.Sprint(before, was, after, is)
						}
					}
					remembered[scope] = map[string]string{}
					for name, value := range server[scope] {
						remembered[scope][name] = value
					}
				}
			}
			r.Shuffle(len(look.Items), func(i, j int) { look.Items[i], look.Items[j] = look.Items[j], look.Items[i] })
			var differ []difference
			now, differ = now.after(look, plain)
			got := map[string]string{}
			for _, d := range differ {
				var before, after string
				if d.before != nil {
					before = d.before.Value
				}
				if d.after != nil {
					after = d.after.Value
				}
				got[fmt.Sprint(d.either().Scope, d.either().Name)] = fmt.Sprint(before, d.before != nil, after, d.after != nil)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, brute force (-) and we (+):\n%s", seed, diff)
			}
		}
	}
}

func TestSecretSettings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"work_mem": false, "ssl_key_file": false, "listen_addresses": false, "auto_explain.log_min_duration": false, "plpgsql.extra_errors": false,
		"archive_command": true, "restore_command": true, "archive_cleanup_command": true, "recovery_end_command": true,
		"primary_conninfo": true, "ssl_passphrase_command": true, "app.jwt_secret": true, "App.Anything": true, "citus.node_conninfo": true, "anon.salt": true,
	} {
		if got := SecretSetting(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
