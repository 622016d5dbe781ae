// Package config holds the settings of an operator.
//
// The settings are one table (settings.go): flag, default, help and how the
// text is read. A setting's environment variable is its flag in capitals
// (--public-url, MUSTER_PUBLIC_URL); the flag wins over the variable, which wins
// over the default. An empty variable counts as not set, because that is how
// compose files leave one out.
//
// Bind makes the flags. Validate, once they are parsed, reads all settings,
// fills the Config and reports everything that is wrong with them at once.
// Warnings tells what is allowed and probably not meant, such as a variable
// with a typo in its name.
//
// What may go wrong: nothing is started from a setting that is broken, for
// Validate comes first; a variable whose name has a typo is not a setting, which
// Warnings says; a file that a setting names is read by whoever needs it, and its
// absence is theirs to tell.
//
// Passwords come in through URLs. They show neither when a Config is printed or
// logged, nor in the errors of Validate.
package config
