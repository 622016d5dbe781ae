package secretref_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/secrets/secretref"
)

// hard is a password with everything that a URL does not take.
const hard = `p@ss:w/o?r#d %41+&=[]{}$"é`

func source(t *testing.T) secretref.Source {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"password": hard + "\r\n", "dsn": "postgres://u:in-file@db01/d\n", "empty": "\n", "long": strings.Repeat("x", 70<<10),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"PASSWORD": hard, "DSN": "postgres://u:%70@db01/d", "HOST": "db01.example", "EMPTY": ""}
	return secretref.Source{Dir: dir, Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

// TestAPasswordComesThrough, whatever it holds and by whichever way.
func TestAPasswordComesThrough(t *testing.T) {
	t.Parallel()
	s := source(t)
	for name, r := range map[string]secretref.Reference{
		"variable":            {DSN: "postgres://u:${PASSWORD}@db01:5432/d?sslmode=disable"},
		"variable, with host": {DSN: "sqlserver://u:${PASSWORD}@${HOST}:1433?database=d"},
		"parameter":           {DSN: "postgres://u@db01/d?password=${PASSWORD}"},
		"file":                {DSN: "oracle://u@db01:1521/service", PasswordFile: "password"},
		"absolute file":       {DSN: "postgres://u@${HOST}/d", PasswordFile: filepath.Join(s.Dir, "password")},
	} {
		dsn, err := s.Resolve(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		u, err := url.Parse(dsn)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, _ := u.User.Password()
		if got == "" {
			got = u.Query().Get("password")
		}
		if got != hard {
			t.Errorf("%s: the password is %q", name, got)
		}
		if host := u.Hostname(); host != "db01" && host != "db01.example" {
			t.Errorf("%s: the host is %q", name, host)
		}
	}
	for name, c := range map[string]struct {
		reference secretref.Reference
		want      string
	}{
		"whole":       {secretref.Reference{DSN: "${DSN}"}, "postgres://u:%70@db01/d"},
		"file":        {secretref.Reference{DSNFile: "dsn"}, "postgres://u:in-file@db01/d"},
		"no password": {secretref.Reference{DSN: "postgres://u@db01/d"}, "postgres://u@db01/d"},
	} {
		if got, err := s.Resolve(c.reference); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestReferencesThatLeadNowhere are refused by a typed error, and no error repeats what
// was written or what lies there.
func TestReferencesThatLeadNowhere(t *testing.T) {
	t.Parallel()
	s := source(t)
	clear := new(*secretref.ClearError)
	unset := new(*secretref.UnsetError)
	file := new(*secretref.FileError)
	form := new(*secretref.FormError)
	for name, c := range map[string]struct {
		reference secretref.Reference
		as        any
		says      string
	}{
		"nothing":                  {secretref.Reference{}, form, "is missing"},
		"in the clear":             {secretref.Reference{DSN: "postgres://u:hunter2@db01/d"}, clear, "${NAME}"},
		"partly":                   {secretref.Reference{DSN: "postgres://u:hunter2${PASSWORD}@db01/d"}, clear, ""},
		"as a parameter":           {secretref.Reference{DSN: "postgres://u@db01/d?Password=hunter2"}, clear, ""},
		"as another parameter":     {secretref.Reference{DSN: "sqlserver://u@db01?pwd=hunter2"}, clear, ""},
		"beside a file":            {secretref.Reference{DSN: "postgres://u:hunter2@db01/d", PasswordFile: "password"}, clear, ""},
		"not set":                  {secretref.Reference{DSN: "postgres://u:${NOBODY}@db01/d"}, unset, "NOBODY"},
		"set to nothing":           {secretref.Reference{DSN: "${EMPTY}"}, unset, "EMPTY"},
		"no name":                  {secretref.Reference{DSN: "postgres://u:${}hunter2@db01/d"}, form, "${"},
		"not closed":               {secretref.Reference{DSN: "postgres://u:${PASSWORDhunter2@db01/d"}, form, "${"},
		"no such file":             {secretref.Reference{DSN: "postgres://u@db01/d", PasswordFile: "nobody"}, file, "nobody"},
		"a directory":              {secretref.Reference{DSNFile: "."}, file, "read"},
		"an empty file":            {secretref.Reference{DSNFile: "empty"}, file, "empty"},
		"a long file":              {secretref.Reference{DSNFile: "long"}, file, "bytes"},
		"two strings":              {secretref.Reference{DSN: "${DSN}", DSNFile: "dsn"}, form, "dsnFile"},
		"a file for a file":        {secretref.Reference{DSNFile: "dsn", PasswordFile: "password"}, form, "dsnFile"},
		"a password for nothing":   {secretref.Reference{PasswordFile: "password"}, form, "dsn"},
		"a password for nobody":    {secretref.Reference{DSN: "postgres://db01/d", PasswordFile: "password"}, form, "user"},
		"two passwords":            {secretref.Reference{DSN: "postgres://u:${PASSWORD}@db01/d", PasswordFile: "password"}, form, "has a password"},
		"no URL":                   {secretref.Reference{DSN: "postgres://u:hun%zzter2@db01/d"}, form, "URL"},
		"no URL, and a file to it": {secretref.Reference{DSN: "${PASSWORD}", PasswordFile: "password"}, form, "user"},
	} {
		got, err := s.Resolve(c.reference)
		if err == nil || !errors.As(err, c.as) || !strings.Contains(err.Error(), c.says) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
			continue
		}
		for _, secret := range []string{"hunter2", "hun%zzter2", hard, "in-file"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error repeats a secret: %v", name, err)
			}
		}
	}
}
