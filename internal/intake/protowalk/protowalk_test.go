package protowalk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake/protowalk"
)

// field is what a walk says of one.
type field struct {
	Number protowire.Number
	Type   protowire.Type
	Bytes  string
	Bits   uint64
	Left   int
}

func walk(message []byte) (fields []field, err error) {
	in := protowalk.In(message)
	for in.Next() {
		f := field{Number: in.Number, Type: in.Type, Left: in.Left()}
		switch in.Type {
		case protowire.BytesType:
			f.Bytes = string(in.Bytes)
		case protowire.VarintType, protowire.Fixed64Type, protowire.Fixed32Type:
			f.Bits = in.Bits
		}
		fields = append(fields, f)
	}
	if in.Next() {
		err = walkError("a walk that ended goes on")
	} else {
		err = in.Err()
	}
	return fields, err
}

type walkError string

func (e walkError) Error() string { return string(e) }

// TestFields: every type is stepped over whole, in the order in which they came.
func TestFields(t *testing.T) {
	t.Parallel()
	message := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1<<64-1)
	message = protowire.AppendFixed64(protowire.AppendTag(message, 2, protowire.Fixed64Type), 5)
	message = protowire.AppendString(protowire.AppendTag(message, 3, protowire.BytesType), "text")
	message = protowire.AppendTag(message, 4, protowire.StartGroupType)
	message = protowire.AppendString(protowire.AppendTag(message, 3, protowire.BytesType), "in a group")
	message = protowire.AppendTag(message, 4, protowire.EndGroupType)
	message = protowire.AppendFixed32(protowire.AppendTag(message, protowire.MaxValidNumber, protowire.Fixed32Type), 1<<32-1)
	message = protowire.AppendString(protowire.AppendTag(message, 3, protowire.BytesType), "")
	got, err := walk(message)
	want := []field{
		{1, protowire.VarintType, "", 1<<64 - 1, len(message) - 11},
		{2, protowire.Fixed64Type, "", 5, len(message) - 20},
		{3, protowire.BytesType, "text", 0, len(message) - 26},
		{4, protowire.StartGroupType, "", 0, 11},
		{protowire.MaxValidNumber, protowire.Fixed32Type, "", 1<<32 - 1, 2},
		{3, protowire.BytesType, "", 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestIs: a known number of another type is not the field that is known.
func TestIs(t *testing.T) {
	t.Parallel()
	in := protowalk.In(protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.VarintType), 1))
	if !in.Next() || !in.Is(7, protowire.VarintType) || in.Is(7, protowire.Fixed64Type) || in.Is(6, protowire.VarintType) || in.IsMessage(7) {
		t.Errorf("field %d of type %d is not told from others", in.Number, in.Type)
	}
}

// TestEnds: a message that ends within a field, or has an invalid one, is an error after the
// fields before it.
func TestEnds(t *testing.T) {
	t.Parallel()
	good := []byte{0x08, 1}
	for name, tail := range map[string][]byte{
		"within a tag":           {0x80},
		"after a tag":            {0x10},
		"within a varint":        {0x10, 0xff},
		"a varint without end":   {0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"within fixed 64":        {0x11, 1, 2, 3, 4, 5, 6, 7},
		"within fixed 32":        {0x15, 1, 2, 3},
		"within bytes":           {0x12, 3, 'a', 'b'},
		"a length of all memory": {0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a group without end":    {0x13, 0x08, 1},
		"an end without group":   {0x14},
		"the end of another":     {0x13, 0x1c},
		"number 0":               {0x00, 1},
		"type 6":                 {0x16},
		"type 7":                 {0x17},
	} {
		got, err := walk(append(good[:2:2], tail...))
		if err == nil || len(got) != 1 || got[0].Bits != 1 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := walk(nil); err != nil || len(got) != 0 {
		t.Errorf("nothing is %v, %v", got, err)
	}
}

// TestNothingIsCopied: a walk allocates nothing, and its bytes are the message's.
func TestNothingIsCopied(t *testing.T) { // alone, as counting allocations demands
	message := protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), "text")
	in := protowalk.In(message)
	if !in.Next() || &in.Bytes[0] != &message[2] {
		t.Error("the bytes are a copy")
	}
	if n := testing.AllocsPerRun(10, func() {
		for in := protowalk.In(message); in.Next(); {
			_ = in.Bytes
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
