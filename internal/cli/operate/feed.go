package operate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/feed/kept"
	"muster/internal/assessment/feed/records"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/engine"
)

// FeedCommand returns the command feed.
func FeedCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("feed", "Releases of database engines, and their known vulnerabilities", feedShowCommand(cfg), feedUpdateCommand(cfg))
}

func feedShowCommand(cfg *config.Config) *cobra.Command {
	var current bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print each major with its end of life, latest release and number of known CVEs",
		Long: `Prints the tables that are built into this program, and below them the gaps in the
tables. Reports and checks use the tables to judge versions. The command needs no
database and no network.

With --current it opens the installation and prints the tables with all updates, as
reports and checks use them now.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !current {
				known, err := feed.Load()
				if err != nil {
					return err
				}
				return showFeed(cmd.OutOrStdout(), known)
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				known, err := in.Known.Current(cmd.Context())
				if err != nil {
					return err
				}
				return showFeed(cmd.OutOrStdout(), known)
			})
		},
	}
	cmd.Flags().BoolVar(&current, "current", false, "print the tables with the updates of this installation")
	return cmd
}

func showFeed(out io.Writer, known *feed.Feed) error {
	id := known.Identity()
	if _, err := fmt.Fprintf(out, "%s, compared with its sources on %s\nSHA-256 %s\n", id.Name, id.Date.Format(time.DateOnly), id.Digest); err != nil {
		return err
	}
	if n := len(known.Updates()); n > 0 {
		if _, err := fmt.Fprintf(out, "with updates: %d\n", n); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "exploited CVEs: CISA's list until %s\n", known.ExploitedUntil().Format(time.DateOnly)); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nENGINE\tMAJOR\tEND OF LIFE\tLATEST\tOF\tCVES")
	for _, e := range known.Entries() {
		latest, cves := e.Latest, "not known"
		if latest == "" {
			latest = "not known"
		}
		of := "not known"
		if !e.LatestAt.IsZero() {
			of = e.LatestAt.Format(time.DateOnly)
		}
		if e.CVEsKnown && (e.CVEs > 0 || e.Whole) {
			cves = fmt.Sprint(e.CVEs)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Engine, e.Major, e.EndOfLife.Format(time.DateOnly), latest, of, cves)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, gap := range known.Gaps() {
		if _, err := fmt.Fprintln(out, "\n"+gap); err != nil {
			return err
		}
	}
	return nil
}

func feedUpdateCommand(cfg *config.Config) *cobra.Command {
	var update feedUpdate
	cmd := &cobra.Command{
		Use:   "update FILE",
		Short: "Add published vulnerabilities to the feed",
		Long: `Reads OSV records, and the records of the PostgreSQL project and of MongoDB in the CVE
list (JSON 5). A file is one record, an array, one record per line, or a zip archive of
these, as OSV.dev exports them. Other records are skipped and counted.

A file may also be CISA's catalog of known exploited vulnerabilities
(known_exploited_vulnerabilities.json). It replaces the whole list of exploited CVEs.

The command compares the file with its SHA-256, from --sha256 or from FILE.sha256 next
to it. If MUSTER_FEED_KEY is set, it also checks the minisign signature in FILE.minisig.
A file with neither a digest nor a signature is refused.

The command prints the changes by engine. If any record is wrong, it refuses the whole
file and prints every error: a broken record, a contradiction, or a record that is older
than the known one and differs from it. All processes use the new feed from their next
assessment and their next report on. Existing reports do not change.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			update.file = args[0]
			found, err := update.read(cfg)
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error { return update.apply(cmd, in, found) })
		},
	}
	cmd.Flags().BoolVar(&update.dryRun, "dry-run", false, "print the changes only")
	cmd.Flags().StringVar(&update.sha256, "sha256", "", "the `digest` that the file must have")
	cmd.Flags().StringSliceVar(&update.engines, "engine", nil, "use only the records of this `engine`: postgresql, mysql, mongodb; you can repeat the flag")
	cmd.Flags().BoolVar(&update.older, "older", false, "also accept records that are older than the known ones")
	return cmd
}

// feedUpdate is one call of feed update.
type feedUpdate struct {
	file, sha256  string
	dryRun, older bool
	engines       []string
}

// foundFile is a file that is what it should be.
type foundFile struct {
	records.Contents
	exploited        *feed.ExploitedList // nil: it is no list of exploited CVEs
	digest, signedBy string
}

// read reads the file and checks who made it.
func (u feedUpdate) read(cfg *config.Config) (found foundFile, err error) {
	text, err := readAtMost(u.file, records.MaxBytes)
	if err != nil {
		return found, err
	}
	found.digest = records.Digest(text)
	want := u.sha256
	if beside, ok, err := optionalFile(u.file + ".sha256"); err != nil {
		return found, err
	} else if ok && want == "" {
		if want, err = records.DigestIn(beside, u.file); err != nil {
			return found, fmt.Errorf("%s.sha256: %w", u.file, err)
		}
	}
	if want != "" {
		if err := records.CheckDigest(text, want); err != nil {
			return found, fmt.Errorf("%s: %w", u.file, err)
		}
	}
	signature, signed, err := optionalFile(u.file + ".minisig")
	switch {
	case err != nil:
		return found, err
	case signed && cfg.FeedKey == "":
		return found, fmt.Errorf("%s.minisig is a signature, and no key is set to check it by (MUSTER_FEED_KEY)", u.file)
	case !signed && cfg.FeedKey != "":
		return found, fmt.Errorf("%s has no signature (%s.minisig), and the key that is set wants one", u.file, filepath.Base(u.file))
	case signed:
		key, err := records.ParseKey(cfg.FeedKey)
		if err != nil {
			return found, err
		}
		if found.signedBy, err = records.CheckSignature(text, signature, key); err != nil {
			return found, fmt.Errorf("%s: %w", u.file, err)
		}
	case want == "":
		return found, fmt.Errorf("nothing says what %s should be: give its digest by --sha256 or in %s.sha256, or its signature", u.file, filepath.Base(u.file))
	}
	engines := make([]fleet.Engine, len(u.engines))
	for i, name := range u.engines {
		engines[i] = fleet.Engine(name)
		if !slices.Contains(records.Engines(), engines[i]) {
			return found, fmt.Errorf("--engine %s: no records of it can be read; there are %v", name, records.Engines())
		}
	}
	if list, problems, is := records.ReadExploited(text); is {
		found.exploited, found.Problems = &list, problems
		return found, nil
	}
	found.Contents = records.Read(text, engines...)
	return found, nil
}

func (u feedUpdate) apply(cmd *cobra.Command, in *installation.Installation, found foundFile) error {
	dry := u.dryRun || len(found.Problems) > 0
	o, err := in.Known.Apply(cmd.Context(), kept.Update{
		Records: found.Records, Exploited: found.exploited, File: found.digest, SignedBy: found.signedBy, Older: u.older, DryRun: dry,
	}, in.Clock.Now())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s, SHA-256 %s\n", u.file, found.digest)
	if found.signedBy != "" {
		fmt.Fprintf(out, "signed: %s\n", printable.Clean(found.signedBy))
	}
	if problems := slices.Concat(found.Problems, o.Problems); len(problems) > 0 {
		fmt.Fprintln(out)
		for _, p := range problems {
			if _, err := fmt.Fprintln(out, printable.Clean(p.String())); err != nil {
				return err
			}
		}
		return &command.ExitError{Status: command.ExitFailed, Err: fmt.Errorf("%s is refused as a whole, problems: %d; the feed is as it was", u.file, len(problems))}
	}
	if found.exploited != nil {
		return u.sayExploited(cmd, in, *found.exploited, o)
	}
	if err := sayChanges(out, o.Changes); err != nil {
		return err
	}
	end := "\nthe feed is now " + o.After
	switch {
	case len(o.Changes) == 0:
		end = "\nnothing is other than what is known; the feed is " + o.After
	case u.dryRun:
		end = "\nnothing was written (--dry-run); the feed is " + o.Before + ", and would be " + o.After
	}
	_, err = fmt.Fprintf(out, "records passed over, which are about something else: %d\n%s\n", found.Passed, end)
	return err
}

// sayExploited prints what a list of exploited CVEs changes.
func (u feedUpdate) sayExploited(cmd *cobra.Command, in *installation.Installation, list feed.ExploitedList, o kept.Outcome) error {
	known, err := in.Known.Current(cmd.Context())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "CISA's list of exploited CVEs of %s, CVEs: %d, new: %d, dropped: %d\n",
		list.Released.Format(time.DateOnly), len(list.CVEs), len(o.Listed), len(o.Delisted))
	for _, id := range known.Concerned(o.Listed) {
		fmt.Fprintf(out, "new, in the tables: %s\n", id)
	}
	for _, id := range known.Concerned(o.Delisted) {
		fmt.Fprintf(out, "dropped, in the tables: %s\n", id)
	}
	end := "the feed is now " + o.After
	switch {
	case o.After == o.Before && !u.dryRun:
		end = "nothing is other than what is known; the feed is " + o.After
	case u.dryRun:
		end = "nothing was written (--dry-run); the feed is " + o.Before + ", and would be " + o.After
	}
	_, err = fmt.Fprintln(out, end)
	return err
}

// sayChanges prints what becomes other: by engine, then one by one.
func sayChanges(out io.Writer, changes []feed.Change) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nENGINE\tNEW\tCHANGED\tDROPPED")
	count := map[fleet.Engine]map[string]int{}
	for _, c := range changes {
		if count[c.Record.Engine] == nil {
			count[c.Record.Engine] = map[string]int{}
		}
		count[c.Record.Engine][c.Kind]++
	}
	for _, e := range engine.All() {
		n := count[e.Name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", e.Name, n[feed.New], n[feed.Changed], n[feed.Dropped])
	}
	if len(changes) > 0 {
		fmt.Fprintln(table)
	}
	for _, c := range changes {
		words := c.Words
		if words == "" {
			words = c.Record.Title
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%.1f\t%s\n", c.Record.Engine, c.Kind, c.Record.ID, c.Record.CVSS, printable.Clean(words))
	}
	return table.Flush()
}

// readAtMost reads a file of at most so many bytes.
func readAtMost(path string, most int64) (text []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err = io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// optionalFile reads a small file that may not be there.
func optionalFile(path string) (text string, ok bool, err error) {
	content, err := readAtMost(path, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(content), err == nil, err
}
