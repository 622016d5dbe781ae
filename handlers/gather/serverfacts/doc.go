// Package serverfacts gathers what a scorecard says of its server beside checks and measurements: its role in replication
// and whether it follows, the growth of its databases, its backups against their objective (RPO), and when its volumes
// and tablespaces are full.
//
// Everything is as of the time of the document. A look at replication that is older than replication.Fresh says nothing
// about that time, so it is left out.
package serverfacts
