package tns_test

import (
	"reflect"
	"strings"
	"testing"

	"muster/internal/servers/tns"
)

func TestReadDescriptor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]tns.Descriptor{
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=db01)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=orders)))": {
			Addresses: []string{"db01:1521"}, Service: "orders",
		},
		// As the wallet of an Autonomous Database has it, over lines.
		"(description= (retry_count=20)(retry_delay=3)\n(address=(protocol=tcps)(port=1522)(host=adb.eu-frankfurt-1.oraclecloud.com))" +
			"(connect_data=(service_name=x_orders_high.adb.oraclecloud.com))(security=(ssl_server_dn_match=yes)))": {
			Addresses: []string{"adb.eu-frankfurt-1.oraclecloud.com:1522"}, TLS: true, Service: "x_orders_high.adb.oraclecloud.com",
		},
		"(DESCRIPTION=(CONNECT_TIMEOUT=90)(ADDRESS_LIST=(LOAD_BALANCE=on)(ADDRESS=(PROTOCOL=TCP)(HOST=2001:db8::1)(PORT=1521)))" +
			"(ADDRESS_LIST=(ADDRESS=(PROTOCOL=tcp)(HOST=dg02)(PORT=1522)))(CONNECT_DATA=(SID=\"ORCL\")(INSTANCE_NAME=ORCL1)(SERVER=DEDICATED)))": {
			Addresses: []string{"[2001:db8::1]:1521", "dg02:1522"}, SID: "ORCL", Instance: "ORCL1",
		},
	} {
		got, err := tns.ReadDescriptor(text)
		if err != nil || !reflect.DeepEqual(got.Addresses, want.Addresses) || got.TLS != want.TLS || got.Service != want.Service || got.SID != want.SID || got.Instance != want.Instance {
			t.Errorf("%s:\n%+v, %v", text, got, err)
		}
	}
}

// TestReadDescriptorRefuses what may lead elsewhere, name a file of Muster's machine, or is no descriptor. No error
// repeats a value.
func TestReadDescriptorRefuses(t *testing.T) {
	t.Parallel()
	const address = "(ADDRESS=(PROTOCOL=TCP)(HOST=secret)(PORT=1521))"
	for text, problem := range map[string]string{
		"": "not of the form", "(DESCRIPTION": "not of the form", "(DESCRIPTION=": "not of the form", "(DESCRIPTION=secret": "not of the form",
		"(DESCRIPTION=" + address + ")x": "not of the form", "(DESCRIPTION_LIST=(DESCRIPTION=" + address + "))": "not of the form",
		strings.Repeat("(DESCRIPTION=", 5000): "not of the form", "(DESCRIPTION=" + address + "secret)": "not of the form",
		"(DESCRIPTION=(CONNECT_DATA=(SID=secret)))":                              "no ADDRESS",
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=BEQ)(HOST=secret)(PORT=1)))":            "neither TCP nor TCPS",
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=secret)(PORT=0)))":            "no PORT",
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(PORT=1521)))":                      "no HOST",
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=a,secret)(PORT=1521)))":       "no HOST",
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=IPC)(KEY=secret)))":                     "KEY in its connect descriptor is not accepted",
		"(DESCRIPTION=" + address + "(SECURITY=(MY_WALLET_DIRECTORY=secret)))":   "MY_WALLET_DIRECTORY in its connect descriptor is not accepted: Muster reads no wallet from files",
		"(DESCRIPTION=" + address + "(CONNECT_DATA=(SID=secret)(SID=secret2)))":  "gives SID twice",
		"(DESCRIPTION=" + address + "(SOURCE_ROUTE=yes))":                        "SOURCE_ROUTE in its",
		"(DESCRIPTION=" + address + "(pa$$secret=yes))":                          "a name that is not accepted",
		"(DESCRIPTION=" + address + "(ADDRESS=(PROTOCOL=TCPS)(HOST=b)(PORT=1)))": "differs",
	} {
		if _, err := tns.ReadDescriptor(text); err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(strings.ToLower(err.Error()), "secret") {
			t.Errorf("%.100s: %v, want %q", text, err, problem)
		}
	}
}
