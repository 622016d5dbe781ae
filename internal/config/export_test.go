package config

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// BindEnvironment is Bind in a process with another environment.
func BindEnvironment(flags *pflag.FlagSet, environment ...string) *Config {
	c := Bind(flags)
	c.environ = func() []string { return environment }
	return c
}

// LoggerOn is Logger on another writer.
func (c *Config) LoggerOn(w io.Writer) *slog.Logger {
	c.LogTo = w
	return c.Logger()
}
