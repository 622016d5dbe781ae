package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"muster/internal/networks/multihost"
)

// The functions here read one setting's text each. Their errors continue the
// sentence "--flag (VARIABLE) …".

// optional leaves a setting without text at its zero value.
func optional[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) {
		if text == "" {
			var none T
			return none, nil
		}
		return parse(text)
	}
}

func nonEmpty(text string) (string, error) {
	if text == "" {
		return "", errors.New("is empty")
	}
	return text, nil
}

func onOrOff(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1":
		return true, nil
	case "off", "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("is %q, not on or off", text)
}

func oneOf(choices ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if lower := strings.ToLower(text); slices.Contains(choices, lower) {
			return lower, nil
		}
		return "", fmt.Errorf("is %q, not %s", text, strings.Join(choices, " or "))
	}
}

func level(text string) (slog.Level, error) {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	l, ok := levels[strings.ToLower(text)]
	if !ok {
		return 0, fmt.Errorf("is %q, not debug, info, warn or error", text)
	}
	return l, nil
}

// positive is a whole number from 1.
func positive(most int64) func(string) (int64, error) {
	return func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return 0, errors.New("must be a whole number")
		case n < 1 || n > most:
			return 0, fmt.Errorf("must be 1 to %d", most)
		}
		return n, nil
	}
}

// atLeast reads a duration, days included: 90s, 12h, 30d.
func atLeast(least time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := parseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("is %q, not a time such as 90s, 12h or 30d", text)
		}
		if d < least {
			return 0, fmt.Errorf("is %s, less than %s", text, least)
		}
		return d, nil
	}
}

func parseDuration(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if !isDays {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16) // 179 years: days beyond overflow no Duration
	return time.Duration(n) * 24 * time.Hour, err
}

func address(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("is %q, not host:port", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("is %q, whose port is no number up to 65535", text)
	}
	return text, nil
}

func addressOrOff(text string) (string, error) {
	if strings.EqualFold(text, opsOff) {
		return opsOff, nil
	}
	return address(text)
}

// browsable is a listen address as a browser on this machine would have it.
func browsable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

func directory(text string) (string, error) {
	if text == "" {
		return "", errors.New("is empty")
	}
	return path(text)
}

// path makes a path absolute: it goes to programs that run elsewhere.
func path(text string) (string, error) {
	absolute, err := filepath.Abs(text)
	if err != nil {
		return "", fmt.Errorf("is %q, which cannot be found: %w", text, err)
	}
	return absolute, nil
}

// publicKey is the line of a public key of minisign: Ed, the key's id and the key.
func publicKey(text string) (string, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 42 || string(key[:2]) != "Ed" {
		return "", fmt.Errorf("is %q, not the line of a public key of minisign, which begins with RW", text)
	}
	return text, nil
}

func webURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return "", fmt.Errorf("is %q, not http://host or https://host", text)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("is %q, which has more than host and path", text)
	}
	return text, nil
}

// origin is scheme, host and port: what pages of ours link to begins with it.
func origin(text string) (string, error) {
	text = strings.TrimRight(text, "/")
	if _, err := webURL(text); err != nil {
		return "", err
	}
	if u, _ := url.Parse(text); u.Path != "" {
		return "", fmt.Errorf("is %q, which has a path: Muster is served from the root", text)
	}
	return text, nil
}

// secretURL reads a URL that may hold a password, so its errors do not repeat
// it. Without schemes any will do.
func secretURL(schemes ...string) func(string) (string, error) {
	wanted := "scheme://host/…"
	if len(schemes) > 0 {
		wanted = schemes[0] + "://host/…"
	}
	return func(text string) (string, error) {
		u, err := multihost.Parse(text)
		if err != nil || u.Scheme == "" {
			return "", fmt.Errorf("is not a URL such as %s (reserved characters in a password are written %%40 for @, %%2F for /)", wanted)
		}
		if len(schemes) > 0 && !slices.Contains(schemes, u.Scheme) {
			return "", fmt.Errorf("begins with %s://, not with %s://", u.Scheme, strings.Join(schemes, ":// or "))
		}
		if misread(u) {
			return "", errors.New("has an @ behind its host: in a password / is written %2F, ? is written %3F, # is written %23")
		}
		if slices.Contains(schemes, "postgres") && !findsPrimary(u) {
			return "", errors.New("names several hosts and not which of them is meant: add target_session_attrs=read-write to its query")
		}
		if slices.Contains([]string{"smtp", "smtps"}, u.Scheme) && u.Hostname() == "" {
			return "", fmt.Errorf("names no host, as %s does", wanted)
		}
		return text, nil
	}
}

// misread says whether part of an account was read as what stands behind the host, where a
// password would show.
func misread(u *url.URL) bool {
	behind := u.EscapedPath() + u.EscapedFragment()
	for parameter := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		behind += name
	}
	return u.Host != "" && strings.Contains(behind, "@")
}

// findsPrimary says whether a database URL leads to a server that takes writes: of several
// hosts all but one are standbys.
func findsPrimary(u *url.URL) bool {
	return !multihost.Several(u) || slices.Contains([]string{"read-write", "primary"}, u.Query().Get("target_session_attrs"))
}

// redacted is a URL without its passwords, wherever they may stand in one.
func redacted(text string) string {
	if text == "" {
		return ""
	}
	u, err := multihost.Parse(text)
	if err != nil {
		return "(unreadable)"
	}
	query := u.Query()
	for name := range query {
		lower := strings.ToLower(name)
		if strings.Contains(lower, "password") || strings.Contains(lower, "secret") || strings.Contains(lower, "key") || strings.Contains(lower, "token") {
			query.Set(name, "xxxxx")
		}
	}
	u.RawQuery = query.Encode()
	return u.Redacted()
}

func mailbox(text string) (string, error) {
	a, err := mail.ParseAddress(text)
	if err != nil {
		return "", fmt.Errorf("is %q, not an address such as Muster <muster@example.org>", text)
	}
	return a.String(), nil
}

func bareMailbox(text string) (string, error) {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name != "" || a.Address != text {
		return "", fmt.Errorf("is %q, not an address such as ana@example.org", text)
	}
	return text, nil
}

// label is a part of a host's name. Underscores are in none, and in some that are in use.
var label = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)

// helloName reads a name for EHLO (RFC 5321, section 4.1.3): a host's, or an address, which
// stands in brackets there.
func helloName(text string) (string, error) {
	if ip, err := netip.ParseAddr(strings.TrimPrefix(strings.Trim(text, "[]"), "IPv6:")); err == nil && ip.Zone() == "" {
		return literal(ip), nil
	}
	const longest = 253
	name := strings.TrimSuffix(text, ".")
	if len(name) > longest || slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !label.MatchString(part) }) {
		return "", fmt.Errorf("is %q, not a name such as muster.example.org or an address such as [192.0.2.1]", text)
	}
	return name, nil
}

// literal is an address as it stands in EHLO.
func literal(ip netip.Addr) string {
	if ip = ip.Unmap(); ip.Is4() {
		return "[" + ip.String() + "]"
	}
	return "[IPv6:" + ip.String() + "]"
}

// helloOf is the name in EHLO where none is set: the host of the public URL. Where that
// says nothing to another machine, it is empty, which is this machine's name.
func helloOf(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil || loopback(u.Hostname()) {
		return ""
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		host = u.Hostname()
	}
	name, err := helloName(host)
	if err != nil {
		return ""
	}
	return name
}

func items(text string) []string {
	var found []string
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			found = append(found, item)
		}
	}
	return found
}

func roles(text string) (Roles, error) {
	var found Roles
	for _, item := range items(text) {
		role := ProcessRole(item)
		if !allRoles().Has(role) {
			return nil, fmt.Errorf("names %q, which is not one of api, projections, workers, collectors", item)
		}
		if !found.Has(role) {
			found = append(found, role)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("is empty: a process without a role does nothing")
	}
	return found, nil
}

func networks(text string) ([]netip.Prefix, error) {
	var found []netip.Prefix
	for _, item := range items(text) {
		prefix, err := netip.ParsePrefix(item)
		if ip, ipErr := netip.ParseAddr(item); ipErr == nil {
			prefix, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("names %q, which is neither a network such as 10.0.0.0/8 nor an address", item)
		}
		found = append(found, unmapped(prefix).Masked())
	}
	return found, nil
}

// unmapped is a network of IPv4 as such where it is written as one of IPv6: addresses
// are compared without that disguise, and would be in none otherwise.
func unmapped(n netip.Prefix) netip.Prefix {
	if mapped := 128 - 32; n.Addr().Is4In6() && n.Bits() >= mapped {
		return netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-mapped)
	}
	return n
}

// someNetworks are networks where none would mean the default, which is wider.
func someNetworks(text string) ([]netip.Prefix, error) {
	found, err := networks(text)
	if err == nil && len(found) == 0 {
		err = errors.New("names no network")
	}
	return found, err
}

func origins(text string) ([]string, error) {
	var found []string
	for _, item := range items(text) {
		o, err := origin(item)
		if err != nil {
			return nil, fmt.Errorf("names %q, which is not an origin such as https://pages.example.org", item)
		}
		found = append(found, o)
	}
	return found, nil
}
