// Package config holds the settings of an operator.
//
// The settings are one table (settings.go): flag, default, help, and how the text is parsed. A
// setting's environment variable is its flag in capitals (--public-url, MUSTER_PUBLIC_URL). The
// flag overrides the variable, and the variable overrides the default. An empty variable counts
// as not set, because compose files leave a variable out in that way.
//
// Bind creates the flags. After parsing, Validate reads all settings, fills the Config and
// reports all errors at once. Warnings reports what is allowed and probably a mistake, such as a
// variable with a typo in its name.
//
// What may go wrong: nothing starts with a broken setting, because Validate comes first. A
// variable with a typo in its name is not a setting, and Warnings says so. The component that
// uses a file named in a setting reads it, and reports if it is missing.
//
// Passwords come in through URLs. They are not shown when a Config is printed or logged, nor in
// the errors of Validate.
package config
