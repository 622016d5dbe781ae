package sqlserver

import "muster/internal/engine/trait"

var connected = trait.Connected{
	Account: []string{
		"Create a login to look with, as a member of sysadmin: muster agent grants --engine sqlserver prints the statements, and so does the page that adds an instance.",
		"Let it in from Muster's address: TCP/IP switched on, logins of SQL Server accepted (mixed mode) or an account of Windows or Entra, and a certificate that Muster's machine trusts.",
	},
	Mends: map[string]string{
		"tls": "Make the server's certificate one that the connection trusts, or the connection one that the server accepts: " +
			"encrypt, hostNameInCertificate and trustServerCertificate say which.",
	},
	Grants: grants,
}
