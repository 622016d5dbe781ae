package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/domain/printable"
	"muster/eventstore/topic"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
)

const deadListLimit = 1000

// DeadCommand returns the command dead.
func DeadCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("dead", "Events and jobs that were set aside",
		deadListCommand(cfg),
		deadOneCommand(cfg, "show", "Show one event with its error, or one job with its attempts", showDead),
		deadOneCommand(cfg, "retry", "Apply the event and the events behind it, or run the job again (except the build of a report that has ended)", retryDead),
		deadOneCommand(cfg, "drop", "Give up an event or a job for good; rebuilds skip a dropped event, too", dropDead),
	)
}

func deadListCommand(cfg *config.Config) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List events and jobs that were set aside, oldest first",
		Args:  cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			letters, err := in.Runner.DeadLetters().List(cmd.Context(), uuid.Nil, uuid.Nil, deadListLimit)
			if err != nil {
				return err
			}
			dead, err := in.Queue.Dead(cmd.Context(), uuid.Nil, deadListLimit)
			if err != nil {
				return err
			}
			if asJSON {
				return command.PrintJSON(cmd, deadJSON(letters, dead))
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tWHAT\tSINCE\tWAITING\tERROR")
			for _, l := range letters {
				fmt.Fprintf(w, "%s\t%s %s:%d in %s\t%s\t%d\t%s\n",
					l.ID, l.EventType, l.Log, l.Position, l.Handler, l.ParkedAt.UTC().Format(time.RFC3339), l.Waiting, printable.Clean(l.Error))
			}
			for _, j := range dead {
				fmt.Fprintf(w, "%s\t%s job of %s\t%s\t\t%s\n", j.ID, j.Kind, j.Subject, j.RunAt.UTC().Format(time.RFC3339), printable.Clean(j.LastError))
			}
			return w.Flush()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	return cmd
}

func deadJSON(letters []topic.Letter, dead []jobs.Row) any {
	events, work := make([]any, len(letters)), make([]any, len(dead))
	for i, l := range letters {
		events[i] = map[string]any{
			"id": l.ID, "log": l.Log, "position": l.Position, "type": l.EventType, "handler": l.Handler,
			"parkedAt": l.ParkedAt.UTC(), "waiting": l.Waiting, "error": l.Error,
		}
	}
	for i, j := range dead {
		work[i] = map[string]any{"id": j.ID, "kind": j.Kind, "subject": j.Subject, "dueAt": j.RunAt.UTC(), "attempts": j.Attempts, "error": j.LastError}
	}
	return map[string]any{"events": events, "jobs": work}
}

// deadOneCommand is a command on one id, which names an event or a job.
func deadOneCommand(cfg *config.Config, use, short string, act func(context.Context, *installation.Installation, uuid.UUID) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " ID",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := uuid.Parse(args[0])
			if err != nil {
				return &command.ExitError{Status: command.ExitUsage, Err: fmt.Errorf("%q is not an id; 'muster dead list' shows them", args[0])}
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				said, err := act(cmd.Context(), in, id)
				if err != nil {
					return err
				}
				return command.Say(cmd, "%s\n", printable.Text(said))
			})
		},
	}
}

func showDead(ctx context.Context, in *installation.Installation, id uuid.UUID) (string, error) {
	letter, event, err := in.Runner.DeadLetters().Show(ctx, uuid.Nil, id)
	if err == nil {
		return fmt.Sprintf("%s:%d %s of %s %s, organization %s\nin %s, tried %d times, %d events wait behind it\nerror: %s\ndata: %s",
			letter.Log, letter.Position, letter.EventType, letter.StreamType, letter.Stream, letter.OrganizationID,
			letter.Handler, letter.Attempts, letter.Waiting, letter.Error, event.Data), nil
	}
	if !errors.Is(err, topic.ErrNoLetter) {
		return "", err
	}
	job, ok, err := in.Queue.Get(ctx, uuid.Nil, id)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("nothing set aside has the id %s", id)
	}
	whole, err := json.MarshalIndent(job, "", "  ")
	return string(whole), err
}

func retryDead(ctx context.Context, in *installation.Installation, id uuid.UUID) (string, error) {
	return settleDead(ctx, in, id, accounts.DeadLetterRetried, in.Runner.DeadLetters().Retry, in.Commands.RetryJob, "the job will run again")
}

func dropDead(ctx context.Context, in *installation.Installation, id uuid.UUID) (string, error) {
	return settleDead(ctx, in, id, accounts.DeadLetterDropped, in.Runner.DeadLetters().Drop, in.Queue.Drop, "the job is dropped")
}

// settleDead does it to the event or the job, shows it to the organization's auditors,
// and returns what came of it; that the event still fails is a failure.
func settleDead(ctx context.Context, in *installation.Installation, id uuid.UUID, entryType string,
	event func(context.Context, uuid.UUID, uuid.UUID) (topic.Replay, error), job func(context.Context, uuid.UUID, uuid.UUID) error, done string) (string, error) {
	letter, _, err := in.Runner.DeadLetters().Show(ctx, uuid.Nil, id)
	organization := letter.OrganizationID
	if errors.Is(err, topic.ErrNoLetter) {
		var row jobs.Row
		row, _, err = in.Queue.Get(ctx, uuid.Nil, id) // one that is not there is refused below
		organization = row.OrganizationID
	}
	if err != nil {
		return "", err
	}
	replay, err := event(ctx, organization, id)
	isJob := errors.Is(err, topic.ErrNoLetter)
	if isJob {
		err = job(ctx, organization, id)
	}
	if err == nil {
		err = in.Accounts.RecordOperation(ctx, organization, entryType, id.String())
	}
	switch {
	case err != nil:
		return "", err
	case isJob:
		return done, nil
	case replay.Error != "":
		return "", fmt.Errorf("%d events applied, %d still wait: %s", replay.Applied, replay.Waiting, replay.Error)
	}
	return fmt.Sprintf("%d events applied, none waits", replay.Applied), nil
}
