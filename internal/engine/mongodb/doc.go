// Package mongodb is the engine MongoDB: Muster keeps what is sent of it, and knows its releases.
package mongodb
