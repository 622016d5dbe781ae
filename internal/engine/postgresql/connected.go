package postgresql

import "muster/internal/engine/trait"

var connected = trait.Connected{
	Account: []string{
		"Create a role to look with, as a superuser in psql: CREATE ROLE muster LOGIN; GRANT pg_monitor TO muster; then \\password muster",
		"Let it in from Muster's address over TLS: a hostssl line of pg_hba.conf with scram-sha-256, then SELECT pg_reload_conf();",
	},
	Mends: map[string]string{
		"authentication": "Give the connection a role and a password that the server accepts, and pg_hba.conf a line for it.",
		"tls": "Make the server's certificate one that the connection trusts, or the connection one that the server accepts: " +
			"sslmode and sslrootcert say which.",
	},
	HostRules:    true,
	FollowsRoles: true,
	Grants:       grants,
}
