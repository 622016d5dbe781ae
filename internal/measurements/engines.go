package measurements

import "muster/domain/fleet"

// Engines are those that connections, query performance and wait events cover, in
// the order in which answers name them.
func Engines() []fleet.Engine {
	return []fleet.Engine{fleet.PostgreSQL, fleet.SQLServer, fleet.Oracle}
}
