package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"muster/domain/printable"
	"muster/eventstore"
)

// Say prints what a command answers.
func Say(cmd *cobra.Command, format string, args ...any) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// PrintJSON prints one object, which moves nothing on a terminal.
func PrintJSON(cmd *cobra.Command, value any) error {
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(value); err != nil {
		return err
	}
	return Say(cmd, "%s\n", Escaped(strings.TrimSuffix(text.String(), "\n")))
}

// Escaped is JSON that says the same and moves nothing on a terminal: what JSON itself
// lets stand in a text, such as C1 controls, is written by its number.
func Escaped(line string) string {
	if printable.Name(line) {
		return line
	}
	var out strings.Builder
	for _, r := range line {
		if printable.Name(string(r)) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// PrintVerification prints what came of verifying a log.
func PrintVerification(w io.Writer, r eventstore.Verification) {
	if r.OK() {
		fmt.Fprintf(w, "%s: ok, %d events of %d streams, head %s\n", r.Log, r.Events, r.Streams, r.Head)
		return
	}
	fmt.Fprintf(w, "%s: %d things do not fit in %d events\n", r.Log, r.Misfits, r.Events)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  %s\n", f)
	}
}
