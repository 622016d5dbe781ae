package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/domain/legible"
	"muster/eventstore"
	"muster/internal/config"
)

func eventsCommand(cfg *config.Config) *cobra.Command {
	return parent("events", "The event logs: list, replay, verify, head, witness, export",
		eventsListCommand(cfg), eventsReplayCommand(cfg), eventsVerifyCommand(cfg),
		eventsHeadCommand(cfg), eventsWitnessCommand(cfg), eventsExportCommand(cfg))
}

// selection is which events a command is about, as flags.
type selection struct {
	log, organization, stream, types, from, to string
	limit                                      int
}

func (s *selection) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.log, "log", "", "reports, organization or fleet; none: all three")
	cmd.Flags().StringVar(&s.organization, "organization", "", "only this organization's, by id")
	cmd.Flags().StringVar(&s.stream, "stream", "", "only this stream's, by id (a report, an instance)")
	cmd.Flags().StringVar(&s.types, "type", "", "only these types, comma-separated (report.ready)")
	cmd.Flags().StringVar(&s.from, "from", "", "only those recorded at or after this RFC 3339 time")
	cmd.Flags().StringVar(&s.to, "to", "", "only those recorded before this RFC 3339 time")
}

// logs and filter read the flags; all that is wrong is in one usage error.
func (s *selection) read() (logs []eventstore.Log, f eventstore.Filter, err error) {
	var wrong []string
	note := func(flag string, err error) {
		if err != nil {
			wrong = append(wrong, "--"+flag+": "+err.Error())
		}
	}
	logs, err = logsNamed(s.log)
	note("log", err)
	f.Organization, err = optionalID(s.organization)
	note("organization", err)
	f.Stream, err = optionalID(s.stream)
	note("stream", err)
	f.RecordedFrom, err = optionalTime(s.from)
	note("from", err)
	f.RecordedTo, err = optionalTime(s.to)
	note("to", err)
	f.Types = strings.FieldsFunc(s.types, func(r rune) bool { return r == ',' })
	if s.limit < 0 {
		wrong = append(wrong, fmt.Sprintf("--limit: %d is less than none", s.limit))
	}
	return logs, f, usage(wrong)
}

// usage is a usage error of all that is wrong; nil where nothing is.
func usage(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	return &exitError{status: exitUsage, err: errors.New(strings.Join(wrong, "; "))}
}

func logsNamed(name string) ([]eventstore.Log, error) {
	if name == "" {
		return eventstore.Logs, nil
	}
	for _, l := range eventstore.Logs {
		if string(l) == name {
			return []eventstore.Log{l}, nil
		}
	}
	return nil, fmt.Errorf("there is no log %q, only %v", name, eventstore.Logs)
}

func optionalID(s string) (uuid.UUID, error) {
	if s == "" {
		return uuid.Nil, nil
	}
	return uuid.Parse(s)
}

func optionalTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, s)
}

func eventsListCommand(cfg *config.Config) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Print events as JSON, one a line, in the order of their log",
		Example: "  muster events list --log reports --type report.ready,report.failed --from 2026-11-01T00:00:00Z",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logs, filter, err := s.read()
			if err != nil {
				return err
			}
			return withInstallation(cmd.Context(), cfg, func(in *installation) error {
				left := s.limit
				for _, log := range logs {
					for e, err := range in.events.Read(cmd.Context(), log, filter) {
						if err != nil {
							return err
						}
						if err := printEvent(cmd.OutOrStdout(), e); err != nil {
							return err
						}
						if left--; left == 0 {
							return nil
						}
					}
				}
				return nil
			})
		},
	}
	s.bind(cmd)
	cmd.Flags().IntVar(&s.limit, "limit", 0, "stop after so many; 0: all")
	return cmd
}

// printEvent writes one line. Data that is no JSON is shown as a string.
func printEvent(w io.Writer, e eventstore.Event) error {
	line, err := json.Marshal(struct {
		Log            eventstore.Log  `json:"log"`
		Position       int64           `json:"position"`
		OrganizationID uuid.UUID       `json:"organizationId"`
		StreamType     string          `json:"streamType"`
		StreamID       uuid.UUID       `json:"streamId"`
		Version        int64           `json:"version"`
		Type           string          `json:"type"`
		SchemaVersion  int             `json:"schemaVersion"`
		OccurredAt     time.Time       `json:"occurredAt"`
		RecordedAt     time.Time       `json:"recordedAt"`
		Data           json.RawMessage `json:"data"`
		Metadata       json.RawMessage `json:"metadata"`
		Digest         string          `json:"digest"`
		Hash           string          `json:"hash"`
	}{
		e.Log, e.Position, e.OrganizationID, e.StreamType, e.Stream, e.Version, e.Type, e.SchemaVersion,
		e.OccurredAt.UTC(), e.RecordedAt.UTC(), shown(e.Data), shown(e.Metadata), fmt.Sprintf("%x", e.Digest), fmt.Sprintf("%x", e.Hash),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, escaped(string(line)))
	return err
}

// escaped is JSON that says the same and moves nothing on a terminal: what JSON itself
// lets stand in a text, such as C1 controls, is written by its number.
func escaped(line string) string {
	if legible.Name(line) {
		return line
	}
	var out strings.Builder
	for _, r := range line {
		if legible.Name(string(r)) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

func shown(b []byte) json.RawMessage {
	if utf8.Valid(b) && json.Valid(b) {
		return b
	}
	quoted, err := json.Marshal(fmt.Sprintf("%q", b))
	if err != nil {
		return json.RawMessage(`null`)
	}
	return quoted
}
