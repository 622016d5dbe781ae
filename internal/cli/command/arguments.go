package command

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// Parent returns a command that only groups others and calls none by itself.
func Parent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return &ExitError{Status: ExitUsage, Err: fmt.Errorf("%s needs a subcommand; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
	}}
	cmd.AddCommand(children...)
	return cmd
}

// ReadPassword reads a password file; a line end at its end is not part of it.
func ReadPassword(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the password file: %w", err)
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

// NameFromAddress is the name of somebody of whom only the address is known.
func NameFromAddress(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}

// Require marks flags as needed; cobra then names those that are missing.
func Require(cmd *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := cmd.MarkFlagRequired(f); err != nil {
			panic(err) // a misspelt flag name: wiring
		}
	}
}

// OptionalID reads an id; an empty text is uuid.Nil.
func OptionalID(s string) (uuid.UUID, error) {
	if s == "" {
		return uuid.Nil, nil
	}
	return uuid.Parse(s)
}

// OptionalTime reads a time; an empty text is the zero time.
func OptionalTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, s)
}

// Count is 1 for true, and 0 for false.
func Count(set bool) int {
	if set {
		return 1
	}
	return 0
}
