package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/concurrency/supervise"
	"muster/internal/config"
	"muster/internal/intake/collect"
	"muster/internal/intake/heartbeat"
	"muster/internal/operate/fleetfile"
	"muster/internal/secrets/secretref"
	"muster/internal/text/strictyaml"
	"muster/projections/exceptions"
	"muster/projections/fleet"
)

// ExitDiffers is the status of a dry run that found something to do.
const ExitDiffers = 4

// fleetApply is one call of fleet apply.
type fleetApply struct {
	file, email, organization      string
	dryRun, prune, unreached, json bool
}

// FleetCommand returns the command fleet.
func FleetCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("fleet", "An organization's servers, teams, rules, exceptions and settings as a file", fleetApplyCommand(cfg))
}

func fleetApplyCommand(cfg *config.Config) *cobra.Command {
	var a fleetApply
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Apply servers, teams, rules, exceptions and settings from a YAML file",
		Long: `Prints the differences between the organization and the file (-: standard input), and
applies them. A second run finds nothing to do. docs/administrators.md describes the
file.

The externalId identifies a server: another name is a rename. Fields that the file
leaves out do not change. Items that a list does not name stay, and are printed;
--prune removes them. The file refers to passwords (${NAME}, dsnFile,
passwordFile). A file with a password in the clear is refused.

The command first tries new connections. It skips a server that it cannot reach, and
applies the others; --unreached registers that server all the same, if Muster is
allowed to connect to it. Exit status:

  0  everything is as the file declares it
  1  the whole file is refused, or some changes were not applied
  2  wrong usage
  3  cannot tell: the file or the database cannot be read; nothing was changed
  4  a --dry-run found differences`,
		Example: `  muster fleet apply fleet.yaml --dry-run
  muster fleet apply fleet.yaml --email ana@example.org
  muster fleet apply fleet.yaml --prune --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.file = args[0]
			return a.run(cmd, cfg)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&a.dryRun, "dry-run", false, "print the differences only, without connecting to any server")
	f.BoolVar(&a.prune, "prune", false, "remove servers, teams, rules and channels, and revoke exceptions, that the lists of the file do not name")
	f.BoolVar(&a.unreached, "unreached", false, "also register servers that cannot be reached now")
	f.StringVar(&a.email, "email", "", "the acting administrator; required if the organization has several")
	f.StringVar(&a.organization, "in", "", "the organization's name or id; required if there are several and --email is not given")
	f.BoolVar(&a.json, "json", false, "print one JSON object (docs/administrators.md)")
	return cmd
}

// applied is what a run came to, as --json has it.
type applied struct {
	Organization string             `json:"organization,omitempty"`
	RequestID    string             `json:"requestId,omitempty"` // in the audit list
	DryRun       bool               `json:"dryRun"`
	Faults       []fleetfile.Fault  `json:"faults"`
	Changes      []fleetfile.Change `json:"changes"`
	Stays        []fleetfile.Change `json:"stays"`
}

func (a fleetApply) run(cmd *cobra.Command, cfg *config.Config) error {
	text, err := a.read(cmd.InOrStdin())
	if err != nil {
		return &command.ExitError{Status: command.ExitCannotTell, Err: err}
	}
	checks, err := catalogue.Load()
	if err != nil {
		return err
	}
	reader := fleetfile.Reader{Checks: checks, Now: time.Now(), Secrets: secretref.Source{Lookup: os.LookupEnv}}
	if a.file != "-" {
		reader.Secrets.Dir = filepath.Dir(a.file)
	}
	file, faults := reader.Read(text)
	if len(faults) > 0 {
		return a.refuse(cmd, faults)
	}
	open := false
	err = installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
		open = true
		return a.apply(cmd, in, file)
	})
	if err != nil && !open {
		return &command.ExitError{Status: command.ExitCannotTell, Err: err}
	}
	return err
}

// read reads the file, or standard input.
func (a fleetApply) read(stdin io.Reader) ([]byte, error) {
	if a.file != "-" {
		return readAtMost(a.file, strictyaml.MaxBytes)
	}
	text, err := io.ReadAll(io.LimitReader(stdin, strictyaml.MaxBytes+1))
	if err == nil && len(text) > strictyaml.MaxBytes {
		err = fmt.Errorf("standard input has more than %d bytes", strictyaml.MaxBytes)
	}
	return text, err
}

// refuse tells everything that is wrong with the file.
func (a fleetApply) refuse(cmd *cobra.Command, faults []fleetfile.Fault) error {
	refused := &command.ExitError{Status: command.ExitFailed, Err: fmt.Errorf("%s is refused as a whole, faults: %d; nothing was changed", a.file, len(faults))}
	if a.json {
		return errors.Join(command.PrintJSON(cmd, applied{DryRun: a.dryRun, Faults: faults, Changes: []fleetfile.Change{}, Stays: []fleetfile.Change{}}), refused)
	}
	for _, f := range faults {
		if err := command.Say(cmd, "%s\n", printable.Clean(a.file+":"+f.String())); err != nil {
			return err
		}
	}
	return refused
}

func (a fleetApply) apply(cmd *cobra.Command, in *installation.Installation, file fleetfile.File) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer projecting(ctx, in)()
	defer cancel()
	who, err := administrator(ctx, in, a.organization, a.email)
	if err != nil {
		return err
	}
	of := who.Organization
	if !a.dryRun {
		end, err := fleetfile.Turn(ctx, in.DB, of.ID, func() {
			fmt.Fprintln(cmd.ErrOrStderr(), "another run is at work on this organization; waiting for it")
		})
		if err != nil {
			return err
		}
		defer end()
	}
	if err := errors.Join(current(ctx, in, eventstore.Fleet, fleet.Name), current(ctx, in, eventstore.Organization, exceptions.Name)); err != nil {
		return &command.ExitError{Status: command.ExitCannotTell, Err: err}
	}
	source := fleetfile.Source{DB: in.DB, Accounts: in.Accounts, Fleet: in.Fleet, Exceptions: in.Exceptions, Servers: in.Facts, Agents: &heartbeat.Store{DB: in.DB}}
	state, err := source.Load(ctx, of.ID, file, in.Clock.Now())
	if err != nil {
		return &command.ExitError{Status: command.ExitCannotTell, Err: err}
	}
	plan, faults := fleetfile.Compare(file, state, a.prune)
	if len(faults) > 0 {
		return a.refuse(cmd, faults)
	}
	run := "fleet-apply-" + uuid.NewString()[:8]
	if err := a.show(cmd, who, plan); err != nil {
		return err
	}
	if a.dryRun || len(plan.Changes) == 0 {
		return a.end(cmd, applied{Organization: of.Name, DryRun: a.dryRun}, plan, nil)
	}
	collector, err := collect.New(in.Facts, in.Commands, in.Fleet, in.Accepted(), in.Reach, in.Log, in.Clock.Now)
	if err != nil {
		return err
	}
	applier := fleetfile.Applier{
		DB: in.DB, Commands: in.Commands, Servers: in.Facts, Connections: collector, Unreached: a.unreached,
		Actor:   usecase.Actor{OrganizationID: of.ID, MemberID: who.Member.ID, RequestID: run, Administers: true},
		CatchUp: func(ctx context.Context) error { return current(ctx, in, eventstore.Fleet, fleet.Name) },
	}
	err = applier.Apply(ctx, plan)
	return a.end(cmd, applied{Organization: of.Name, RequestID: run}, plan, err)
}

// show prints the difference, before anything of it is applied.
func (a fleetApply) show(cmd *cobra.Command, who accounts.Principal, plan *fleetfile.Plan) error {
	if a.json {
		return nil
	}
	if err := command.Say(cmd, "%s, as %s\n\n", printable.Clean(who.Organization.Name), who.Member.Email); err != nil {
		return err
	}
	for _, list := range [][]fleetfile.Change{plan.Changes, plan.Stays} {
		for _, c := range list {
			if err := command.Say(cmd, "%s\n", c); err != nil {
				return err
			}
		}
	}
	if len(plan.Changes)+len(plan.Stays) > 0 {
		if err := command.Say(cmd, "\n"); err != nil {
			return err
		}
	}
	return command.Say(cmd, "to add: %d, to change: %d, to remove: %d\n", plan.Count(fleetfile.Add), plan.Count(fleetfile.Alter), plan.Count(fleetfile.Remove))
}

// end tells what was done and what was not, and is the command's outcome; err is what
// stood in the way of the rest.
func (a fleetApply) end(cmd *cobra.Command, as applied, plan *fleetfile.Plan, err error) error {
	done := 0
	for _, c := range plan.Changes {
		if c.Outcome == fleetfile.Done {
			done++
		}
	}
	all := len(plan.Changes)
	if a.json {
		as.Faults, as.Changes, as.Stays = []fleetfile.Fault{}, append([]fleetfile.Change{}, plan.Changes...), append([]fleetfile.Change{}, plan.Stays...)
		if err := command.PrintJSON(cmd, as); err != nil {
			return err
		}
	} else if err := a.tell(cmd, as, plan, done); err != nil {
		return err
	}
	switch {
	case as.DryRun && all > 0:
		return &command.ExitError{Status: ExitDiffers}
	case as.DryRun || done == all:
		return nil
	case errors.Is(err, context.Canceled):
		err = errors.New("stopped")
	case err == nil:
		err = errors.New("something was refused")
	}
	return &command.ExitError{Status: command.ExitFailed, Err: fmt.Errorf("%d of %d changes were applied: %w; apply the file again when that is mended", done, all, err)}
}

func (a fleetApply) tell(cmd *cobra.Command, as applied, plan *fleetfile.Plan, done int) error {
	if as.DryRun {
		return nil
	}
	if len(plan.Changes) == 0 {
		return command.Say(cmd, "nothing to do\n")
	}
	if err := command.Say(cmd, "\n"); err != nil {
		return err
	}
	for _, c := range plan.Changes {
		var why string
		switch {
		case c.Outcome == fleetfile.Done:
			continue
		case c.Problem != nil:
			why = c.Problem.Code + ": " + c.Problem.Detail
		case c.Outcome == fleetfile.NotDone:
			why = "stopped here"
		default:
			why = "not tried"
		}
		if err := command.Say(cmd, "not done: %s %s: %s\n", c.Kind, printable.Clean(c.Called), printable.Clean(why)); err != nil {
			return err
		}
	}
	return command.Say(cmd, "done: %d of %d (%s in the audit list)\n", done, len(plan.Changes), as.RequestID)
}

// administrator is who acts: the member of that address, or the only administrator of the
// organization.
func administrator(ctx context.Context, in *installation.Installation, nameOrID, email string) (accounts.Principal, error) {
	if email != "" {
		who, err := in.PrincipalOf(ctx, email)
		switch {
		case err != nil:
			return who, err
		case nameOrID != "" && nameOrID != who.Organization.Name && nameOrID != who.Organization.ID.String():
			return who, fmt.Errorf("no account of %s has the address %s", nameOrID, email)
		case who.Member.Status != organization.Active || who.Member.Role != organization.Admin:
			return who, fmt.Errorf("%s is no active administrator, and servers, exceptions and settings are an administrator's to change", email)
		}
		return who, nil
	}
	of, err := in.OrganizationNamed(ctx, nameOrID)
	if err != nil {
		return accounts.Principal{}, err
	}
	members, _, err := in.Accounts.Members(ctx, of.ID, accounts.MemberQuery{Page: 1, Size: 1 << 30})
	if err != nil {
		return accounts.Principal{}, err
	}
	var found []accounts.Member
	for _, m := range members {
		if m.Status == organization.Active && m.Role == organization.Admin {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return accounts.Principal{}, fmt.Errorf("%s has no active administrator; 'muster admin create' makes one", of.Name)
	case 1:
		return accounts.Principal{Member: found[0], Organization: of}, nil
	}
	return accounts.Principal{}, fmt.Errorf("%s has %d administrators; say by --email who acts", of.Name, len(found))
}

// projecting fills the read models for as long as a command runs, where no serve does,
// and returns what waits for the end of it once ctx has ended.
func projecting(ctx context.Context, in *installation.Installation) (ended func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = supervise.New(in.Log, supervise.Counts{}).Run(ctx, "projections", in.Runner.Run)
	}()
	return func() { <-over }
}

// currentWithin is how long a command waits for a read model.
const currentWithin = time.Minute

// current waits until a read model has all that is in the log now.
func current(ctx context.Context, in *installation.Installation, log eventstore.Log, name string) error {
	for began := time.Now(); ; {
		ok, err := in.Runner.CatchUp(ctx, log, name)
		switch {
		case err != nil || ok:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(began) > currentWithin:
			return fmt.Errorf("the read model %s is behind its log; 'muster projections list' says why", name)
		}
	}
}
