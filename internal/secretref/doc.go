// Package secretref reads connection strings that name their secrets instead of
// holding them.
//
// A file that says which servers there are lies in a repository, is mailed and is
// printed. So a password is not written there but referred to: ${NAME} stands for a
// variable of the environment, and a file beside holds a password or a whole
// connection string. A password in the clear is refused and not merely warned about:
// whoever reads a warning has committed the file by then.
//
// ${NAME} alone is the whole connection string, as it stands. Within one, it is
// percent-encoded, wherever it stands: the variable holds the password itself, and
// nobody has to know which characters a URL does not take. What is looked for is the
// password of the user, and any parameter whose name speaks of one.
//
// # What may go wrong
//
// The variable is not set, or the file cannot be read: an error that names it, and
// never what it holds. The variable holds a password that was percent-encoded already:
// then it is encoded twice, and the server does not let the user in. A password that is
// written where no URL has one (in the path, say) is not recognized as one; no server
// takes it there.
package secretref
