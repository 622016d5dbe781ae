package prove

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/domain/printable"
	"muster/eventstore"
	"muster/internal/cli/command"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/offline"
	"muster/internal/report/control/evidence"
)

// offlineOptions are what `verify --offline` rests on.
type offlineOptions struct {
	offline                                  bool
	trust, proof, keys, authority, witnesses string
	kept, links                              []string
}

func (o *offlineOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.offline, "offline", false, "check without a database and a network")
	cmd.Flags().StringVar(&o.trust, "trust", "", "with --offline: a file from 'muster trust init', instead of --keys, --tsa-ca and --witnesses")
	cmd.Flags().StringVar(&o.keys, "keys", "", "with --offline: the installation's public keys, from /.well-known/muster-keys.json")
	cmd.Flags().StringVar(&o.proof, "proof", "", "with --offline: a proof.json for the files")
	cmd.Flags().StringVar(&o.authority, "tsa-ca", "", "with --offline: certificates (PEM) of the time stamp authorities that you trust")
	cmd.Flags().StringVar(&o.witnesses, "witnesses", "", "with --offline: a file of witnesses, one verifier key per line; at least one of them must have signed")
	cmd.Flags().StringArrayVar(&o.kept, "checkpoint", nil, "with --offline: a checkpoint that you kept, or a PDF or proof.json that contains one; it must have the same history as the log; you can repeat the flag")
	cmd.Flags().StringArrayVar(&o.links, "consistency", nil, "with --checkpoint: a response of GET /proof/LOG/consistency; you can repeat the flag")
}

// unasked refuses what only --offline takes.
func (o *offlineOptions) unasked() error {
	var wrong []string
	for _, f := range []struct{ name, value string }{{"trust", o.trust}, {"keys", o.keys}, {"proof", o.proof}, {"tsa-ca", o.authority}, {"witnesses", o.witnesses}} {
		if f.value != "" {
			wrong = append(wrong, "--"+f.name+": only with --offline")
		}
	}
	for name, all := range map[string][]string{"checkpoint": o.kept, "consistency": o.links} {
		if len(all) > 0 {
			wrong = append(wrong, "--"+name+": only with --offline")
		}
	}
	slices.Sort(wrong)
	return command.Usage(wrong)
}

// fits refuses what does not go together.
func (o *offlineOptions) fits() error {
	if o.trust != "" && o.keys+o.authority+o.witnesses != "" {
		return command.Usage([]string{"--trust: it has keys, time stamp authorities and witnesses; leave --keys, --tsa-ca and --witnesses out"})
	}
	return nil
}

// check adds what each file proves by itself. Of none can anything be told where what was
// given to check it with cannot be read.
func (o *offlineOptions) check(v *verdicts, stdin io.Reader, stderr io.Writer, names []string) {
	trust, beside, err := o.read()
	if err == nil && o.keys != "" && unsignedKeys(trust.Keys) {
		fmt.Fprintln(stderr, unsignedSentence)
	}
	if err == nil && len(trust.Keys.Keys) > 0 {
		v.keys(trust.Keys)
	}
	trust.Now = time.Now()
	files := make([]candidate, len(names))
	for i, name := range names {
		if files[i].err = err; err == nil {
			files[i] = read1(name, stdin)
		}
	}
	answers := make([]offline.Answer, len(names))
	for i, f := range files {
		if f.err == nil {
			answers[i] = judgeFile(f.content, beside, files, trust)
		}
	}
	offline.Compare(answers, names)
	for i, name := range names {
		if files[i].err != nil {
			v.cannotTell(name, files[i].err)
			continue
		}
		a := answers[i]
		seen := Verified{
			File: name, SHA256: files[i].digest(), Verdict: a.Verdict, Sentence: a.Sentence,
			RecordedAt: a.RecordedAt, AtTheLatest: a.AtTheLatest, Steps: a.Steps,
		}
		if a.Report != nil {
			seen.Report = a.Report
		}
		v.add(seen)
		if a.Verdict != attest.Holds {
			v.said = append(v.said, fmt.Sprintf("%s: %s", name, printable.Clean(a.Sentence)))
		}
		if v.json {
			continue
		}
		fmt.Fprintf(v.out, "%s: %s\n", name, printable.Clean(a.Sentence))
		for _, s := range a.Steps {
			fmt.Fprintf(v.out, "  %-9s  %-11s  %s\n", s.State, s.Name, printable.Clean(s.Detail))
		}
	}
}

// judgeFile checks one document by what it is. A table, an inputs document or a PDF as it was
// built is checked by the proof beside it, or by that in a PDF or mail that is given with it.
func judgeFile(content []byte, beside *attest.Proof, given []candidate, trust attest.Trust) offline.Answer {
	trimmed := bytes.TrimSpace(content)
	switch {
	case evidence.Is(content):
		found := evidence.CheckFile(content, trust)
		return offline.Answer{Verdict: found.Verdict, Sentence: found.Sentence, Steps: found.Steps}
	case eventstore.IsExport(trimmed):
		return judgeExport(content, trust)
	}
	if mail, ok := offline.ReadMail(content); ok {
		return offline.CheckMail(mail, beside, trust)
	}
	if beside == nil {
		beside = proofAmong(content, given)
	}
	return offline.Check(content, beside, trust)
}

// proofAmong is the proof in a PDF or a mail, or a proof.json, whose event names a file.
func proofAmong(content []byte, given []candidate) *attest.Proof {
	digest := sha256.Sum256(content)
	for _, f := range given {
		recorded, err := offline.ReadRecorded(f.content)
		if err != nil || recorded.Proof == nil {
			continue
		}
		if recorded.Proof.Companion(digest) != "" || recorded.Proof.Report.PDFSHA256 == hex.EncodeToString(digest[:]) {
			return recorded.Proof
		}
	}
	return nil
}

// stepExport is the step of an export.
const stepExport = "export"

// exportStep is the answer of an export, which has one step.
func exportStep(state attest.State, format string, args ...any) offline.Answer {
	detail := fmt.Sprintf(format, args...)
	return offline.Answered([]attest.Step{{Name: stepExport, State: state, Detail: detail}}, detail)
}

func judgeExport(content []byte, trust attest.Trust) offline.Answer {
	verified, err := eventstore.VerifyExport(bytes.NewReader(content), eventstore.VerifyOptions{})
	var malformed *eventstore.ExportFormatError
	switch {
	case errors.As(err, &malformed):
		return exportStep(attest.Untold, "The export cannot be read: %v.", err)
	case err != nil:
		return exportStep(attest.Broken, "The export was changed: %v.", err)
	}
	if first, ok := verified.First(); ok {
		return exportStep(attest.Broken, "The export was changed: %s.", first)
	}
	key, err := signerOf(verified, trust.Keys)
	switch {
	case err != nil:
		return exportStep(attest.Untold, "The export is consistent, but its signer is unknown: %v.", err)
	case !verified.Export.Whole && verified.Opaque() > 0:
		return exportStep(attest.Untold, "The export is of a format whose signature does not show whether events of the organization are among the %d opaque ones.", verified.Opaque())
	}
	return exportStep(attest.Held, "This is log %s up to %s: %d of %d events are opaque, signed by key %s.", verified.Log, verified.Head, verified.Opaque(), verified.Events, key)
}

func (o *offlineOptions) read() (trust attest.Trust, beside *attest.Proof, err error) {
	var wrong []string
	read := func(flag, path string, parse func([]byte) error) {
		if path == "" {
			return
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = parse(content)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("--%s: %s", flag, strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
	}
	read("trust", o.trust, func(b []byte) (err error) { trust, err = attest.ParseTrust(b); return err })
	read("keys", o.keys, func(b []byte) (err error) { trust.Keys, err = parseKeys(b); return err })
	read("proof", o.proof, func(b []byte) error {
		p, err := attest.ParseProof(b)
		beside = &p
		return err
	})
	read("tsa-ca", o.authority, func(b []byte) error {
		trust.TSA = x509.NewCertPool()
		if !trust.TSA.AppendCertsFromPEM(b) {
			return errors.New("there is no certificate in PEM")
		}
		return nil
	})
	read("witnesses", o.witnesses, func(b []byte) (err error) { trust.Witnesses, err = attest.ParseWitnesses(b); return err })
	for _, path := range o.kept {
		read("checkpoint", path, func(b []byte) error {
			kept, err := parseKept(b, "")
			if err == nil && kept.checkpoint == "" {
				err = errors.New("there is no checkpoint in it")
			}
			trust.Kept = append(trust.Kept, kept.tree)
			return err
		})
	}
	for _, path := range o.links {
		read("consistency", path, func(b []byte) error {
			link, err := attest.ParseConsistency(b)
			trust.Links = append(trust.Links, link)
			return err
		})
	}
	if len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "; "))
	}
	return trust, beside, err
}
