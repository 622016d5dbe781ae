package tns

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// element is a part of a connect descriptor: (NAME=value), or (NAME=(…)(…)).
type element struct {
	name, value string
	within      []element
}

// Descriptor is what a connect descriptor says.
type Descriptor struct {
	Addresses              []string // host:port
	TLS                    bool     // their protocol is TCPS
	Service, SID, Instance string

	protocols []string
}

// ReadDescriptor reads (DESCRIPTION=…).
func ReadDescriptor(text string) (Descriptor, error) {
	var d Descriptor
	root, rest, ok := readElement(text, 0)
	if !ok || strings.TrimSpace(rest) != "" || root.name != "DESCRIPTION" {
		return d, errors.New("its connect descriptor is not of the form (DESCRIPTION=(ADDRESS=…)(CONNECT_DATA=…))")
	}
	if err := d.read(root); err != nil {
		return d, err
	}
	slices.Sort(d.protocols)
	if d.protocols = slices.Compact(d.protocols); len(d.protocols) != 1 || d.protocols[0] != "TCP" && d.protocols[0] != "TCPS" {
		return d, errors.New("its connect descriptor has no ADDRESS, or one whose PROTOCOL differs from the others, or is neither TCP nor TCPS")
	}
	d.TLS = d.protocols[0] == "TCPS"
	return d, nil
}

// readElement reads one element, and returns what follows it.
func readElement(text string, depth int) (e element, rest string, ok bool) {
	const deepest = 8
	text = strings.TrimSpace(text)
	name, value, found := strings.Cut(text, "=")
	if !found || !strings.HasPrefix(name, "(") || depth > deepest {
		return e, "", false
	}
	e.name = strings.ToUpper(strings.TrimSpace(name[1:]))
	for value = strings.TrimSpace(value); strings.HasPrefix(value, "("); value = strings.TrimSpace(value) {
		var inner element
		if inner, value, ok = readElement(value, depth+1); !ok {
			return e, "", false
		}
		e.within = append(e.within, inner)
	}
	end := strings.IndexByte(value, ')')
	if end < 0 {
		return e, "", false
	}
	e.value = strings.Trim(strings.TrimSpace(value[:end]), `"'`)
	return e, value[end+1:], !strings.Contains(e.value, "(") && (e.value == "" || e.within == nil)
}

// tuning are elements by which a client decides how it waits, and tries again: Muster has its own times. SERVER is
// the listener's choice, and a certificate is verified by the name of its host instead of SSL_SERVER_CERT_DN.
var tuning = []string{
	"LOAD_BALANCE", "FAILOVER", "FAILOVER_MODE", "CONNECT_TIMEOUT", "TRANSPORT_CONNECT_TIMEOUT", "RETRY_COUNT", "RETRY_DELAY", "SDU", "RECV_BUF_SIZE",
	"SEND_BUF_SIZE", "ENABLE", "EXPIRE_TIME", "SERVER", "SSL_SERVER_CERT_DN", "SSL_SERVER_DN_MATCH", "CONNECTION_ID_PREFIX", "COLOCATION_TAG", "UR", "USE_SNI",
}

// read takes elements over. What is not known is refused, because it may lead elsewhere, or read from the machine
// that Muster runs on.
func (d *Descriptor) read(e element) error {
	for _, one := range e.within {
		var err error
		switch {
		case slices.Contains([]string{"ADDRESS_LIST", "CONNECT_DATA", "SECURITY"}, one.name):
			err = d.read(one)
		case one.name == "ADDRESS":
			err = d.address(one)
		case one.name == "SERVICE_NAME":
			err = once(&d.Service, one)
		case one.name == "SID":
			err = once(&d.SID, one)
		case one.name == "INSTANCE_NAME":
			err = once(&d.Instance, one)
		case !slices.Contains(tuning, one.name):
			return notInDescriptor(one.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// once takes a value over that stands in a descriptor once.
func once(into *string, e element) error {
	if *into != "" {
		return fmt.Errorf("its connect descriptor gives %s twice", e.name)
	}
	*into = e.value
	return nil
}

func (d *Descriptor) address(e element) error {
	var host, port, protocol string
	for _, one := range e.within {
		switch one.name {
		case "HOST":
			host = one.value
		case "PORT":
			port = one.value
		case "PROTOCOL":
			protocol = strings.ToUpper(one.value)
		default:
			if !slices.Contains(tuning, one.name) {
				return notInDescriptor(one.name)
			}
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.Contains(host, ",") {
		return errors.New("an ADDRESS of its connect descriptor has no HOST, or no PORT from 1 to 65535")
	}
	d.Addresses = append(d.Addresses, net.JoinHostPort(strings.Trim(host, "[]"), port))
	d.protocols = append(d.protocols, protocol)
	return nil
}

// notInDescriptor repeats a name of Oracle's, and nothing that may be a part of a password.
func notInDescriptor(name string) error {
	if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" || len(name) > 40 {
		return errors.New("its connect descriptor has a name that is not accepted")
	}
	hint := ""
	if strings.Contains(name, "WALLET") {
		hint = ": " + WalletHint
	}
	return fmt.Errorf("%s in its connect descriptor is not accepted%s", name, hint)
}
