package prove

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/commands/usecase"
	"muster/domain/printable"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/history"
)

// EventsCommand returns the command events.
func EventsCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("events", "The event logs: list, replay, verify, head, witness, checkpoint, export",
		eventsListCommand(cfg), eventsReplayCommand(cfg), eventsVerifyCommand(cfg),
		eventsHeadCommand(cfg), eventsWitnessCommand(cfg), eventsCheckpointCommand(cfg), eventsExportCommand(cfg))
}

// selection is which events a command is about, as flags.
type selection struct {
	log, organization, stream, types, from, to string
	limit                                      int
}

func (s *selection) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.log, "log", "", "reports, organization, fleet or keys (default all)")
	cmd.Flags().StringVar(&s.organization, "organization", "", "only events of this organization, by id")
	cmd.Flags().StringVar(&s.stream, "stream", "", "only events of this stream, by id (a report, an instance)")
	cmd.Flags().StringVar(&s.types, "type", "", "only events of these types, comma-separated (report.ready)")
	cmd.Flags().StringVar(&s.from, "from", "", "only events recorded at or after this RFC 3339 time")
	cmd.Flags().StringVar(&s.to, "to", "", "only events recorded before this RFC 3339 time")
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
	f.Organization, err = command.OptionalID(s.organization)
	note("organization", err)
	f.Stream, err = command.OptionalID(s.stream)
	note("stream", err)
	f.RecordedFrom, err = command.OptionalTime(s.from)
	note("from", err)
	f.RecordedTo, err = command.OptionalTime(s.to)
	note("to", err)
	f.Types = strings.FieldsFunc(s.types, func(r rune) bool { return r == ',' })
	if s.limit < 0 {
		wrong = append(wrong, fmt.Sprintf("--limit: %d is less than none", s.limit))
	}
	return logs, f, command.Usage(wrong)
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

func eventsListCommand(cfg *config.Config) *cobra.Command {
	var s selection
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Print events as JSON, one per line, in the order of their log",
		Example: "  muster events list --log reports --type report.ready,report.failed --from 2026-11-01T00:00:00Z",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logs, filter, err := s.read()
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				out := &eventLines{w: cmd.OutOrStdout(), whole: asJSON}
				left := s.limit
				for _, log := range logs {
					for e, err := range in.Events.Read(cmd.Context(), log, filter) {
						if err != nil {
							return err
						}
						if err := out.add(e); err != nil {
							return err
						}
						if left--; left == 0 {
							return out.end()
						}
					}
				}
				return out.end()
			})
		},
	}
	s.bind(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, {\"events\":[…]}, instead of lines")
	cmd.Flags().IntVar(&s.limit, "limit", 0, "stop after this number of events; 0: all")
	return cmd
}

// eventLines writes events one a line, or all of them as one object.
type eventLines struct {
	w     io.Writer
	whole bool
	n     int
}

func (l *eventLines) add(e eventstore.Event) error {
	before := ""
	switch {
	case l.whole && l.n == 0:
		before = `{"events":[` + "\n"
	case l.whole:
		before = ","
	}
	l.n++
	if _, err := io.WriteString(l.w, before); err != nil {
		return err
	}
	return printEvent(l.w, e)
}

func (l *eventLines) end() error {
	if !l.whole {
		return nil
	}
	text := "]}\n"
	if l.n == 0 {
		text = `{"events":[]}` + "\n"
	}
	_, err := io.WriteString(l.w, text)
	return err
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
	_, err = fmt.Fprintln(w, command.Escaped(string(line)))
	return err
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

func eventsReplayCommand(cfg *config.Config) *cobra.Command {
	var asOf, kind, organizationName string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay [--as-of TIME] [--kind KIND]",
		Short: "Print the report history and three counts as the logs had recorded them at a time",
		Long: `Reads the log reports from its first event, and prints the report history as the log
had recorded it before --as-of. From the log fleet it prints the numbers of instances,
databases and alerts (open and not muted). The command reads no projection, so you can
compare a projection with it.

The counts differ from the overview's "seven days ago". The overview uses what is known
today: it counts objects that were imported later with earlier times, and leaves out
objects that were removed or muted since. This command does the opposite.`,
		Example: `  muster events replay --as-of 2026-11-01T00:00:00Z --kind Security`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := replayed(asOf, report.Kind(kind))
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				if at.IsZero() {
					at = in.Clock.Now()
				}
				target, err := in.OrganizationNamed(cmd.Context(), organizationName)
				if err != nil {
					return err
				}
				rows, err := history.AsOf(cmd.Context(), in.Events, usecase.Registry().Decode, target.ID, report.Kind(kind), at)
				if err != nil {
					return err
				}
				instances, databases, err := fleet.AsOf(cmd.Context(), in.Events, usecase.Registry().Decode, target.ID, at)
				if err != nil {
					return err
				}
				open, err := alerts.OpenAsOf(cmd.Context(), in.Events, target.ID, at)
				if err != nil {
					return err
				}
				if asJSON {
					return command.PrintJSON(cmd, replayJSON(at, rows, instances, databases, open))
				}
				if err := printHistory(cmd.OutOrStdout(), rows); err != nil {
					return err
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "\nINSTANCES\tDATABASES\tOPEN ALERTS, NOT MUTED")
				fmt.Fprintf(w, "%d\t%d\t%d\n", instances, databases, open)
				return w.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	cmd.Flags().StringVar(&asOf, "as-of", "", "an RFC 3339 time (default now)")
	cmd.Flags().StringVar(&kind, "kind", "", fmt.Sprintf("one of %v (default all)", report.Kinds()))
	cmd.Flags().StringVar(&organizationName, "in", "", "the organization's name or id; required if there are several")
	return cmd
}

// replayed reads what a replay is asked for.
func replayed(asOf string, kind report.Kind) (at time.Time, err error) {
	var wrong []string
	if at, err = command.OptionalTime(asOf); err != nil {
		wrong = append(wrong, "--as-of: "+err.Error())
	}
	kinds := report.Kinds()
	if kind != "" && !slices.Contains(kinds, kind) {
		wrong = append(wrong, fmt.Sprintf("--kind: %q is not one of %v", kind, kinds))
	}
	return at, command.Usage(wrong)
}

// replayJSON is a replay as one object.
func replayJSON(at time.Time, rows []history.ReportRow, instances, databases, openAlerts any) any {
	type reportJSON struct {
		ID         uuid.UUID     `json:"id"`
		Kind       report.Kind   `json:"kind"`
		Status     report.Status `json:"status"`
		ScopeLabel string        `json:"scopeLabel"`
		CreatedAt  time.Time     `json:"createdAt"`
		SHA256     string        `json:"sha256,omitempty"` // of the PDF as it was built
		ErrorCode  string        `json:"errorCode,omitempty"`
	}
	reports := make([]reportJSON, len(rows))
	for i, r := range rows {
		reports[i] = reportJSON{ID: r.ID, Kind: r.Kind, Status: r.Status, ScopeLabel: r.ScopeLabel, CreatedAt: r.CreatedAt.UTC(), ErrorCode: r.ErrorCode}
		if r.File != nil {
			reports[i].SHA256 = r.File.SHA256
		}
	}
	return map[string]any{
		"asOf": at.UTC(), "reports": reports, "counts": map[string]any{"instances": instances, "databases": databases, "openAlerts": openAlerts},
	}
}

func printHistory(out io.Writer, rows []history.ReportRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CREATED\tREPORT\tKIND\tSTATUS\tSCOPE\tSHA-256 OR ERROR")
	for _, r := range rows {
		last := r.ErrorCode
		if r.File != nil {
			last = r.File.SHA256
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.CreatedAt.UTC().Format(time.RFC3339), r.ID, r.Kind, r.Status, printable.Clean(r.ScopeLabel), last)
	}
	return w.Flush()
}
