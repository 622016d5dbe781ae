package oracle

import "muster/internal/engine/trait"

var connected = trait.Connected{
	Account: []string{
		"Create an account to look with, as an administrator: muster agent grants --engine oracle prints the statements, and so does the page that adds an instance.",
		"Let it in from Muster's address: the listener's port, and the service of the pluggable database or of the root.",
	},
	Mends: map[string]string{
		"tls": "Make the server's certificate one that the connection trusts, or the connection one that the server accepts: " +
			"sslmode says which, and the port is one where the listener has TLS.",
		"database": "Name a service or a SID in the connection that the listener knows, of a database that is open to the account.",
	},
	Grants: grants,
}
