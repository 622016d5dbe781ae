// Package mongodb is the engine MongoDB: Muster stores what feeds send about its servers, and
// knows its releases.
package mongodb
