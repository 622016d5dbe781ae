// Package mysql is the engine MySQL: Muster stores what feeds send about its servers, and knows
// its releases.
package mysql
