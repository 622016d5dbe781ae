package agent

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestAFileWithASecretThatOthersMayReadIsRefused: the token's, a password's and a whole connection
// string's, and the error says what to run.
func TestAFileWithASecretThatOthersMayReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes there")
	}
	directory := t.TempDir()
	at := func(name string) string { return filepath.Join(directory, name) }
	must(t, os.WriteFile(at("secret"), []byte("postgres://muster:p@127.0.0.1/x\n"), 0o600))
	config := func(key string) string {
		must(t, os.WriteFile(at("agent.yaml"), []byte("directory: /tmp/x\nservers:\n  - name: a\n    engine: postgresql\n"+key), 0o644)) // holds no secret
		return at("agent.yaml")
	}
	for _, mode := range []os.FileMode{0o600, 0o400, 0o640, 0o440, 0o604, 0o644, 0o660, 0o666, 0o777} {
		must(t, os.Chmod(at("secret"), mode))
		_, token := ReadToken(at("secret"))
		_, dsn := ReadConfig(config("    dsnFile: secret\n"), os.LookupEnv)
		_, password := ReadConfig(config("    dsn: postgres://muster@127.0.0.1/x\n    passwordFile: secret\n"), os.LookupEnv)
		for what, err := range map[string]error{"token": token, "dsnFile": dsn, "passwordFile": password} {
			if refused := err != nil && strings.Contains(err.Error(), "chmod 600 "+at("secret")); refused != (mode&0o077 != 0) || refused && strings.Contains(err.Error(), "muster:p") {
				t.Errorf("%s of mode %04o: %v", what, mode, err)
			}
		}
	}

	// What systemd hands to the unit has the mode of an access list.
	must(t, os.Chmod(at("secret"), 0o440))
	t.Setenv("CREDENTIALS_DIRECTORY", directory)
	if _, err := ReadToken(at("secret")); err != nil {
		t.Errorf("a credential of systemd: %v", err)
	}
	must(t, os.Chmod(at("secret"), 0o444))
	if _, err := ReadToken(at("secret")); err == nil {
		t.Error("a credential that everybody may read is taken")
	}
}

// TestTheTokenInTheClearIsWarnedAbout if it leaves the machine.
func TestTheTokenInTheClearIsWarnedAbout(t *testing.T) {
	t.Parallel()
	warned := map[string]bool{
		"https://muster.example.org": false, "http://localhost:8080": false, "http://LOCALHOST.": false, "http://m.localhost": false, "http://127.8.9.1": false,
		"http://[::1]:80": false, "http://[::ffff:127.0.0.1]": false,
		"http://muster.example.org": true, "http://192.0.2.1:8080": true, "http://[2001:db8::1]": true, "http://localhost.example.org": true, "http://notlocalhost": true,
	}
	own, err := net.InterfaceAddrs()
	must(t, err)
	for _, one := range own {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil && prefix.Addr().Is4() {
			warned["http://"+prefix.Addr().String()] = false
		}
	}
	for text, want := range warned {
		u, err := url.Parse(text)
		must(t, err)
		if got := Clear(u); (got != "") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
