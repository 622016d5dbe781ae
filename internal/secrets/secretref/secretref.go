package secretref

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Source is where references lead.
type Source struct {
	Lookup func(name string) (value string, ok bool) // os.LookupEnv
	Dir    string                                    // relative paths begin there; empty: the working directory
	// Exposed says why a file must hold no secret, as the end of "which …"; empty: it may. nil: any may.
	Exposed func(path string, info fs.FileInfo) string
}

// Reference is a connection string as it is written down; at most one of DSN and
// DSNFile is given.
type Reference struct {
	DSN          string // with ${NAME}
	DSNFile      string // holds a whole one
	PasswordFile string // holds the password that DSN lacks
}

// Errors of a reference, each of a Member of it: dsn, where the error does not say
// another. None holds a value.
type (
	// UnsetError names a variable that is not set, or empty.
	UnsetError struct{ Name string }
	// FileError says why a file holds no secret.
	FileError struct{ Member, Path, Problem string }
	// ClearError says that a password is written down.
	ClearError struct{}
	// FormError says what is wrong with how a reference is written.
	FormError struct{ Member, Problem string }
)

func (e *UnsetError) Error() string {
	return "names the variable " + e.Name + ", which is not set or empty"
}
func (e *FileError) Error() string { return "names the file " + e.Path + ", which " + e.Problem }
func (e *FormError) Error() string { return e.Problem }
func (*ClearError) Error() string {
	return "holds a password in the clear; write ${NAME} in its place, or name a passwordFile"
}

// Members of a reference, as files spell them.
const (
	MemberDSN          = "dsn"
	MemberDSNFile      = "dsnFile"
	MemberPasswordFile = "passwordFile"
)

// maxFile is more than any secret is long.
const maxFile = 64 << 10

// named is a reference, or what begins like one.
var named = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*\}|)`)

// MemberOf is the member that an error of Resolve is about, or of what is done with the
// connection string.
func (r Reference) MemberOf(err error) string {
	file, form := new(FileError), new(FormError)
	switch {
	case errors.As(err, &file):
		return file.Member
	case errors.As(err, &form):
		return form.Member
	case r.DSN == "" && r.DSNFile != "":
		return MemberDSNFile
	}
	return MemberDSN
}

// Resolve returns the connection string. Errors: *UnsetError, *FileError, *ClearError,
// *FormError.
func (s Source) Resolve(r Reference) (string, error) {
	switch {
	case r.DSN != "" && r.DSNFile != "":
		return "", &FormError{MemberDSN, "is given beside a dsnFile; one of them is enough"}
	case r.DSNFile != "" && r.PasswordFile != "":
		return "", &FormError{MemberPasswordFile, "is given beside a dsnFile, which holds the password itself"}
	case r.DSNFile != "":
		return s.file(MemberDSNFile, r.DSNFile)
	case r.DSN == "" && r.PasswordFile != "":
		return "", &FormError{MemberPasswordFile, "is given without a dsn"}
	case r.DSN == "":
		return "", &FormError{MemberDSN, "is missing; give one, or a dsnFile that holds one"}
	}
	dsn, err := s.expand(r.DSN)
	if err != nil || r.PasswordFile == "" {
		return dsn, err
	}
	password, err := s.file(MemberPasswordFile, r.PasswordFile)
	if err != nil {
		return "", err
	}
	return withPassword(dsn, password)
}

// expand puts values in the place of references.
func (s Source) expand(text string) (string, error) {
	if err := refuseClear(text); err != nil {
		return "", err
	}
	var broken error
	expanded := named.ReplaceAllStringFunc(text, func(reference string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(reference, "${"), "}")
		value, ok := s.Lookup(name)
		if !ok || value == "" {
			broken = errors.Join(broken, &UnsetError{Name: name})
		}
		if reference == text {
			return value
		}
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	})
	if broken != nil {
		return "", broken
	}
	return expanded, nil
}

// standIn is what a reference is while a text is looked at: nobody types it.
const standIn = "\ue000"

// refuseClear looks for a password that is written down. What cannot be read as a URL
// is for its engine to refuse, which repeats nothing of it.
func refuseClear(text string) error {
	for _, reference := range named.FindAllString(text, -1) {
		if reference == "${" {
			return &FormError{MemberDSN, "has a ${ that no name and } follow"}
		}
	}
	u, err := url.Parse(named.ReplaceAllString(text, url.PathEscape(standIn)))
	if err != nil {
		return &FormError{MemberDSN, "cannot be read as a URL"}
	}
	if password, _ := u.User.Password(); password != "" && password != standIn {
		return &ClearError{}
	}
	for key, values := range u.Query() {
		key = strings.ToLower(key)
		for _, value := range values {
			if (strings.Contains(key, "pass") || strings.Contains(key, "pwd")) && value != "" && value != standIn {
				return &ClearError{}
			}
		}
	}
	return nil
}

// withPassword puts a password into a connection string that has none.
func withPassword(dsn, password string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" || u.User.Username() == "" {
		return "", &FormError{MemberPasswordFile, "needs a dsn with a user and a host"}
	}
	if _, has := u.User.Password(); has {
		return "", &FormError{MemberPasswordFile, "is given beside a dsn that has a password"}
	}
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String(), nil
}

// file reads a secret; line ends at its end are not part of it.
func (s Source) file(member, path string) (string, error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.Dir, at)
	}
	content, why, err := s.read(at)
	var failed *fs.PathError
	switch {
	case why != "":
		return "", &FileError{member, path, why}
	case errors.As(err, &failed):
		return "", &FileError{member, path, "cannot be read: " + failed.Err.Error()}
	case err != nil:
		return "", &FileError{member, path, "cannot be read"}
	case len(content) > maxFile:
		return "", &FileError{member, path, fmt.Sprintf("has more than %d bytes", maxFile)}
	}
	secret := strings.TrimRight(string(content), "\r\n")
	if secret == "" {
		return "", &FileError{member, path, "is empty"}
	}
	return secret, nil
}

// read reads a file, or says why it must hold no secret.
func (s Source) read(path string) (content []byte, why string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = file.Close() }()
	if s.Exposed != nil {
		info, err := file.Stat()
		if err != nil {
			return nil, "", err
		}
		if why := s.Exposed(path, info); why != "" {
			return nil, why, nil
		}
	}
	content, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	return content, "", err
}
