package fleet

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/net/idna"
)

// HostKey is a host's name in the one spelling in which hosts are compared and samples of
// them are kept. DNS names have no case and may end with a dot (RFC 4343, RFC 1034 §3.1);
// what is punycode of them is letters (RFC 5891). Of an IP address the brackets and the zone
// are left out, IPv6 has its shortest form (RFC 5952), and an IPv4 address that is mapped
// into IPv6 is the IPv4 address.
func HostKey(host string) string {
	if address, is := hostAddress(host); is {
		return address.String()
	}
	name := strings.ToLower(host)
	if trimmed := strings.TrimSuffix(name, "."); trimmed != "" {
		name = trimmed
	}
	if strings.Contains(name, "xn--") || strings.IndexFunc(name, func(r rune) bool { return r > '~' }) >= 0 {
		if unicode, err := hostProfile.ToUnicode(name); err == nil {
			return unicode
		}
	}
	return name
}

// hostProfile allows underscores, which Windows' names of machines may have.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

func hostAddress(host string) (netip.Addr, bool) {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	host, _, _ = strings.Cut(host, "%") // the zone, which only the machine itself knows
	address, err := netip.ParseAddr(host)
	return address.Unmap(), err == nil
}

// NamesHost reports whether what an instance was registered with is the name of a machine:
// an address says nothing about how the machine calls itself, nor does localhost.
func NamesHost(host string) bool {
	if host == "" || HostKey(HostOf(host)) == "localhost" {
		return false
	}
	_, is := hostAddress(HostOf(host))
	return !is
}

// HostOf is the host in an address as programs write it: db7:9187, [::1]:9187,
// http://db7:9187/metrics, SQL01\INST, SQL01,1433. It is in the spelling of the address.
func HostOf(address string) string {
	if _, rest, isURL := strings.Cut(address, "://"); isURL {
		address = rest
		if end := strings.IndexAny(address, "/?#"); end >= 0 {
			address = address[:end]
		}
		address = address[strings.LastIndexByte(address, '@')+1:]
	} else if end := strings.IndexByte(address, '/'); end > 0 {
		address = address[:end]
	}
	address, _, _ = strings.Cut(WithoutPort(address), ",")
	if end := strings.IndexByte(address, '\\'); end > 0 {
		address = address[:end]
	}
	return address
}

// WithoutPort is an address without its port, and an IPv6 address without its brackets.
func WithoutPort(address string) string {
	if strings.HasPrefix(address, "[") {
		host, _, _ := strings.Cut(address[1:], "]")
		return host
	}
	if strings.Count(address, ":") == 1 {
		address, _, _ = strings.Cut(address, ":")
	}
	return address
}

// HostLookups are the keys under which the read model may have the hosts that an address
// means: the same as SQL's host_lookup makes of these hosts. More hosts than those have
// such a key; Hosts decides.
func HostLookups(address string) (keys []string) {
	for _, host := range []string{address, HostOf(address)} {
		if a, is := hostAddress(host); is {
			keys = append(keys, addressLookups(a)...)
			continue
		}
		lower := strings.ToLower(host)
		keys = append(keys, firstLabel(lower), firstLabel(HostKey(host)))
		if ascii, err := hostProfile.ToASCII(HostKey(host)); err == nil {
			keys = append(keys, firstLabel(ascii))
		}
	}
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(key string) bool { return key == "" })
}

// addressLookups are the ends of an address in the spellings that there are: the last
// group, and the last four bytes as IPv4 writes them.
func addressLookups(a netip.Addr) []string {
	bytes := a.As16()
	group := strings.TrimLeft(strings.ToLower(hex(bytes[14])+hex(bytes[15])), "0")
	return []string{netip.AddrFrom4([4]byte(bytes[12:])).String(), "::" + group}
}

func hex(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

func firstLabel(name string) string {
	if end := strings.IndexAny(name, `.:\,`); end >= 0 {
		return name[:end]
	}
	return name
}

// Hosts finds instances by the hosts that they were registered with. The zero value has
// none.
type Hosts struct {
	keys     map[string][]uuid.UUID
	machines map[string][]uuid.UUID // the server registered as SQL01\INST, by SQL01
	labels   map[string][]hosted    // by the first label of a name
}

type hosted struct {
	key string
	id  uuid.UUID
}

// Add adds an instance. An empty host is ignored.
func (h *Hosts) Add(host string, id uuid.UUID) {
	if host == "" {
		return
	}
	if h.keys == nil {
		h.keys, h.machines, h.labels = map[string][]uuid.UUID{}, map[string][]uuid.UUID{}, map[string][]hosted{}
	}
	key := HostKey(host)
	h.keys[key] = append(h.keys[key], id)
	if strings.Contains(host, `\`) {
		key = HostKey(HostOf(host))
		h.machines[key] = append(h.machines[key], id)
	}
	if _, is := hostAddress(host); !is && !strings.Contains(key, ":") {
		label := firstLabel(key)
		h.labels[label] = append(h.labels[label], hosted{key, id})
	}
}

// Find returns the instances whose host an address means, in any spelling of either.
func (h *Hosts) Find(address string) []uuid.UUID {
	host := HostKey(HostOf(address))
	for _, found := range [][]uuid.UUID{h.keys[HostKey(address)], h.keys[host], h.machines[host]} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// FindNear returns the instances whose host an address means, if one of both is a full name
// (db7.example.org) and the other its first label (db7). If several hosts begin with that
// label, it returns none.
func (h *Hosts) FindNear(address string) (found []uuid.UUID) {
	host := HostOf(address)
	if _, is := hostAddress(host); is {
		return nil
	}
	host = HostKey(host)
	label := firstLabel(host)
	near := h.labels[label]
	for _, one := range near {
		if one.key != near[0].key || (one.key == label) == (host == label) {
			return nil
		}
		found = append(found, one.id)
	}
	return found
}
