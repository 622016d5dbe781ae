// Package collect assesses the servers that have a connection registered.
package collect
