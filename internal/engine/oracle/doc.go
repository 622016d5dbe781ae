// Package oracle is the engine Oracle.
package oracle
