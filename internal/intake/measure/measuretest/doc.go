// Package measuretest has what tests of measured servers share: a home that remembers.
package measuretest
