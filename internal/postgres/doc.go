// Package postgres gives Muster its database: a private PostgreSQL server where
// no other was named, pools, and the schema.
package postgres
