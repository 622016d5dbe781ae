// Package mysql is the engine MySQL: Muster keeps what is sent of it, and knows its releases.
package mysql
