// Package secretref reads connection strings that refer to their secrets instead of containing
// them.
//
// A file that lists servers is committed to a repository, mailed and printed. So a password is
// not written there but referred to: ${NAME} stands for an environment variable, and a separate
// file holds a password or a whole connection string. A password in clear text is refused and
// does not just cause a warning: by the time somebody reads a warning, the file is committed.
//
// ${NAME} alone is the whole connection string, as it stands. Inside a connection string it is
// percent-encoded, in every position: the variable holds the password itself, and nobody has to
// know which characters a URL does not allow. The package looks for the password of the user,
// and for any parameter whose name suggests a password.
//
// # What may go wrong
//
// The variable is not set, or the file cannot be read: the error names it, and never its
// content. The variable holds a password that was already percent-encoded: it is encoded twice,
// and the server refuses the user. A password at a place where no URL has one (in the path, for
// example) is not recognized; no server uses it there.
package secretref
