package prove

import (
	"time"

	"github.com/spf13/cobra"

	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/secrets"
)

func keysAcceptUnmarkedCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "accept-unmarked",
		Short: "Take every event up to now, with or without this installation's mark",
		Long: `Programs from before marks write reports and assessments without one. Those up to the
first start of a program that makes marks are taken as they are. Later ones are not
signed and count as altered, because anyone with the database can append them.

Use it once after you went back to a version from before marks and upgraded again, or
after the key file's directory and the note in the database were lost. First make sure
that nobody else wrote to the database meanwhile: 'muster events list' shows what was
appended, and what an intruder appended counts from then on as well. Then have what
was refused signed with 'muster dead retry'.`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			accepted, err := in.Key.AcceptUnmarked(cmd.Context(), in.DB, in.Config.DataDir, time.Now(), func(b secrets.Begun) error {
				return in.Accounts.RecordSystem(cmd.Context(), accounts.UnmarkedAccepted, "up to "+b.String())
			})
			if err != nil {
				return err
			}
			return command.Say(cmd, "events up to %s are taken without a mark\n", accepted)
		}),
	}
}
