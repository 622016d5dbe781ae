// Package postgresql is the engine PostgreSQL.
package postgresql
