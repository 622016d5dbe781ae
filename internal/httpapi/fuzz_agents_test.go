package httpapi

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/httpapi/contract"
	"muster/internal/intake/remotewrite/remotewritetest"
)

// protobuf is a message of an agent, some of them with a bit wrong inside its packing,
// where the mutations of bodies do not reach.
func (g *generator) protobuf(r *contract.Route, w *rawRequest) {
	at := time.Now().Add(-time.Duration(g.IntN(3600)) * time.Second)
	w.without("Content-Type")
	if r.Path != writePath {
		text := func(number protowire.Number, s string) []byte {
			return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), s)
		}
		host := text(1, string(text(1, string(text(1, "host.name"))+string(text(2, string(text(1, fmt.Sprintf("db%d", g.IntN(9)))))))))
		point := protowire.AppendFixed64(protowire.AppendTag(nil, 3, protowire.Fixed64Type), uint64(at.UnixNano()))
		point = protowire.AppendFixed64(protowire.AppendTag(point, 6, protowire.Fixed64Type), uint64(g.IntN(1000)))
		metric := text(2, string(text(1, "system.memory.limit"))+string(text(5, string(text(1, string(point))))))
		w.set("Content-Type", "application/x-protobuf")
		w.body = g.spoiled(text(1, string(host)+string(text(2, string(metric)))))
		return
	}
	version := pick(g, []string{"1.0", "2.0"})
	series := scraped(fmt.Sprintf("db%d:9100", g.IntN(9)), at, float64(g.IntN(100)), 1000)
	for i := range series {
		if g.chance(20) {
			series[i].Labels[pick(g, []string{"instance", "muster_instance", "mode", "mountpoint", "cpu"})] = pick(g, append(hostile, strings.Repeat("x", 300)))
		}
		if g.chance(10) {
			series[i].Samples[0].Value = pick(g, []float64{-1, 1e300, remotewritetest.StaleNaN()})
		}
		if g.chance(10) {
			series[i].Samples[0].At = pick(g, []int64{0, -1, 1 << 62, -1 << 63})
		}
	}
	message := remotewritetest.V1(series...)
	if version == "2.0" {
		message = remotewritetest.V2Bytes(series...)
	}
	for name, value := range prometheus[version] {
		w.set(name, value)
	}
	w.body = []byte(remotewritetest.Pack(g.spoiled(message)))
}

func (g *generator) spoiled(message []byte) []byte {
	switch {
	case g.chance(60) || len(message) == 0:
		return message
	case g.chance(30):
		return message[:g.IntN(len(message))]
	}
	message[g.IntN(len(message))] ^= byte(1 + g.IntN(255))
	return message
}
