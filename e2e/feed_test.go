package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/internal/cli/command"
)

// TestFeedShow: what reports judge versions by is printed without a database, with what
// it does not know.
func TestFeedShow(t *testing.T) {
	t.Parallel()
	got := muster(t, "feed", "show", "--database-url", "postgres://nobody@127.0.0.1:1/none")
	if got.status != 0 || got.errors != "" {
		t.Fatalf("%d: %s", got.status, got.errors)
	}
	for _, line := range []string{
		`(?m)^SHA-256 [0-9a-f]{64}$`, `(?m)^postgresql +15 +2027-11-11 +15\.\d+ +not known +\d+$`, `(?m)^sqlserver +2022 +2033-01-11 +16\.0\.4265 \(CU26\) +2026-07-16 +\d+$`,
		`(?m)^sqlserver +2014 +2024-07-09 +not known +not known +not known$`,
		`(?m)^oracle +12c Release 2 +2022-03-31 `, `(?m)^mysql +8\.4 `, `(?m)^mongodb +8\.0 `, `As of 2026-08-22: of SQL Server's CVEs those of .* are known`, `of Oracle's CVEs`, `of MySQL's CVEs`, `of MongoDB's CVEs`,
	} {
		if !regexp.MustCompile(line).MatchString(got.out) {
			t.Errorf("nothing is like %s in\n%s", line, got.out)
		}
	}
	if got := muster(t, "feed"); got.status != command.ExitUsage {
		t.Errorf("a bare feed ends with %d", got.status)
	}
}

// signedBy is a key pair, and what minisign would write of them: the line of the public
// key, and a signature of a file.
func signedBy(t *testing.T, seed byte, file []byte) (key, signature string) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		t.Fatal("no public key")
	}
	id := bytes.Repeat([]byte{seed}, 8)
	sum := ed25519.Sign(private, file)
	const comment = "feed of November"
	base := base64.StdEncoding.EncodeToString
	return base(append(append([]byte("Ed"), id...), public...)),
		"untrusted comment: x\n" + base(append(append([]byte("Ed"), id...), sum...)) + "\ntrusted comment: " + comment + "\n" +
			base(ed25519.Sign(private, append(sum, comment...))) + "\n"
}

// TestFeedUpdateFollowsTheOperatorsPage runs the commands of the page as they stand there.
func TestFeedUpdateFollowsTheOperatorsPage(t *testing.T) {
	t.Parallel()
	_, section, found := strings.Cut(readText(t, "docs/operators.md"), "## Releases and vulnerabilities")
	section, _, _ = strings.Cut(section, "\n### Exploited CVEs")
	if !found {
		t.Fatal("the page has no such section")
	}
	const text = `{"id":"BIT-mysql-2026-99997","summary":"a flaw","aliases":["CVE-2026-99997"],"affected":[{"package":{"ecosystem":"Bitnami","name":"mysql"},
		"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"}],"ranges":[{"type":"SEMVER","events":[{"introduced":"8.4.0"},{"fixed":"8.4.12"}]}]}],
		"modified":"2026-11-20T06:07:36Z"}`
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	entry, err := w.Create("BIT-mysql-2026-99997.json")
	if err == nil {
		_, err = entry.Write([]byte(text))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	i, dir := install(t), t.TempDir()
	sum := sha256.Sum256(archive.Bytes())
	for name, content := range map[string]string{"vulnerabilities.zip": archive.String(), "vulnerabilities.zip.sha256": hex.EncodeToString(sum[:]) + "  vulnerabilities.zip\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"nothing was written", "the feed is now", "with updates: 1"}
	lines := regexp.MustCompile(`(?m)^muster (.*?) *#`).FindAllStringSubmatch(strings.ReplaceAll(section, "vulnerabilities.zip\n", "vulnerabilities.zip #\n"), -1)
	if len(lines) != len(want) {
		t.Fatalf("the page has %d commands: %v", len(lines), lines)
	}
	for n, line := range lines {
		args := strings.Fields(strings.Replace(line[1], "vulnerabilities.zip", filepath.Join(dir, "vulnerabilities.zip"), 1))
		if out := i.must(t, args...); !strings.Contains(out, want[n]) {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// TestFeedUpdate: an operator's day with a file: tried, taken,
// brought again; and what is forged, broken, older or unproven, which changes nothing.
func TestFeedUpdate(t *testing.T) {
	t.Parallel()
	i := install(t)
	const good = `{"id":"BIT-mongodb-2026-99999","summary":"a flaw of the test","aliases":["CVE-2026-99999"],"affected":[{"package":{"ecosystem":"Bitnami","name":"mongodb"},
		"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"}],"ranges":[{"type":"SEMVER","events":[{"introduced":"8.0.0"},{"fixed":"8.0.40"}]}]}],
		"modified":"2026-11-20T06:07:36Z"}
	{"id":"GHSA-9","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"npm","name":"left-pad"}}]}`
	dir := t.TempDir()
	digest := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	proven := func(name, text string) string {
		path := write(name, text)
		write(name+".sha256", digest(text)+"  "+name+"\n")
		return path
	}
	current := func() string { return i.must(t, "feed", "show", "--current") }
	before := current()

	file := proven("osv.json", good)
	for _, line := range []string{`mongodb +1 +0 +0`, `postgresql +0 +0 +0`, `mongodb +new +CVE-2026-99999 +7\.5 +a flaw of the test`, `something else: 1\n`, `nothing was written \(--dry-run\)`} {
		if out := i.must(t, "feed", "update", file, "--dry-run"); !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("nothing is like %s in\n%s", line, out)
		}
	}
	older := strings.NewReplacer("CVE-2026-99999", "CVE-2026-9752", "2026-11-20", "2026-01-20").Replace(good)
	bad := strings.Replace(older, "AV:N", "AV:Q", 1) + older
	key, signature := signedBy(t, 1, []byte(good))
	_, others := signedBy(t, 2, []byte(good))
	signed := func(name, text, signature string) string {
		path := write(name, text)
		write(name+".minisig", signature)
		return path
	}
	for _, refused := range []struct {
		args []string
		want []string
	}{
		{[]string{write("unproven.json", good)}, []string{"nothing says what"}},
		{[]string{file, "--sha256", digest("x")}, []string{"not what it is said to be", digest("x")}},
		{[]string{file, "--sha256", "7"}, []string{"64 hexadecimal digits"}},
		{[]string{filepath.Join(dir, "none.json")}, []string{"none.json"}},
		{[]string{file, "--feed-key", key}, []string{"has no signature"}},
		{[]string{signed("nokey.json", good, signature)}, []string{"no key is set"}},
		{[]string{signed("other.json", good, others), "--feed-key", key}, []string{"0202020202020202", "0101010101010101"}},
		{[]string{signed("forged.json", good+" ", signature), "--feed-key", key}, []string{"does not fit"}},
		{[]string{file, "--engine", "oracle"}, []string{"--engine oracle", "mongodb"}},
		{[]string{proven("older.json", older)}, []string{"refused as a whole"}},
		{[]string{proven("bad.json", bad)}, []string{"refused as a whole, problems: 2"}},
	} {
		i.fail(t, append([]string{"feed", "update"}, refused.args...), refused.want...)
	}
	if got := i.muster(t, "feed", "update", filepath.Join(dir, "bad.json")); !strings.Contains(got.out, "BIT-mongodb-2026-99999: score: ") || !strings.Contains(got.out, "CVE-2026-9752: older: ") {
		t.Errorf("what is wrong is not named: %s", got.out)
	}
	if after := current(); after != before {
		t.Fatalf("the feed is another one:\n%s", after)
	}

	if out := i.must(t, "feed", "update", filepath.Join(dir, "bad.json"), "--engine", "mysql"); !strings.Contains(out, "something else: 4\n") {
		t.Error(out)
	}
	out := i.must(t, "feed", "update", signed("signed.json", good, signature), "--feed-key", key)
	if !strings.Contains(out, "signed: feed of November") {
		t.Error(out)
	}
	now := regexp.MustCompile(`the feed is now ([0-9a-f]{64})`).FindStringSubmatch(out)
	if after := current(); now == nil || !strings.Contains(after, "SHA-256 "+now[1]+"\nwith updates: 1\n") || !regexp.MustCompile(`(?m)^mongodb +8\.0 +2029-10-31 +8\.0\.40 +2026-11-20 `).MatchString(after) {
		t.Fatalf("%s\n%s", out, after)
	}
	if again := i.must(t, "feed", "update", file); !strings.Contains(again, "nothing is other than what is known; the feed is "+now[1]) {
		t.Error(again)
	}
	i.must(t, "feed", "update", filepath.Join(dir, "older.json"), "--older")
}
