package main

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"math/rand"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Messages within messages, at most.
const maxDepth = 5

func generate(out io.Writer, seed int64, count int, names []string) error {
	random := rand.New(rand.NewSource(seed))
	writer := bufio.NewWriter(out)
	defer writer.Flush()
	encoder := json.NewEncoder(writer)
	for _, name := range names {
		t, err := messageType(name)
		if err != nil {
			return err
		}
		for range count {
			m := t.New()
			fill(random, m, 0)
			l, err := lineOf(m)
			if err != nil {
				return err
			}
			if err := encoder.Encode(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func fill(random *rand.Rand, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if random.Intn(3) == 0 || (f.Message() != nil && depth >= maxDepth) {
			continue
		}
		switch {
		case f.IsMap():
			entries := m.Mutable(f).Map()
			for range random.Intn(4) {
				value := entries.NewValue()
				if f.MapValue().Message() != nil {
					fill(random, value.Message(), depth+1)
				} else {
					value = scalar(random, f.MapValue())
				}
				entries.Set(scalar(random, f.MapKey()).MapKey(), value)
			}
		case f.IsList():
			items := m.Mutable(f).List()
			for range random.Intn(4) {
				item := items.NewElement()
				if f.Message() != nil {
					fill(random, item.Message(), depth+1)
				} else {
					item = scalar(random, f)
				}
				items.Append(item)
			}
		case f.Message() != nil:
			fill(random, m.Mutable(f).Message(), depth+1)
		default:
			m.Set(f, scalar(random, f))
		}
	}
	if random.Intn(8) == 0 {
		m.SetUnknown(unknownField(random, fields.Len() > 0))
	}
}

var texts = []string{
	"", "a", "shop/billing", "orders.default.svc.cluster.local", "*.example.com", "é", "日本語", "🚢",
	"\x00", "__proto__", "constructor", "7", "240.0.0.10/24", "unix:///run/s.sock",
	"a text of more than sixty-four bytes, so that another way of reading it is taken: é and on",
}

func scalar(random *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(pick(random, texts))
	case protoreflect.BytesKind:
		bytes := make([]byte, random.Intn(20))
		random.Read(bytes)
		return protoreflect.ValueOfBytes(bytes)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(random.Intn(2) == 0)
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		if n := random.Intn(values.Len() + 1); n < values.Len() {
			return protoreflect.ValueOfEnum(values.Get(n).Number())
		}
		return protoreflect.ValueOfEnum(99) // of a later release
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(pick(random, []int32{0, 1, -1, 999999999, math.MaxInt32, math.MinInt32}))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(pick(random, []uint32{0, 1, 443, 65535, math.MaxInt32 + 1, math.MaxUint32}))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(pick(random, []int64{0, -1, 1577836800, 1 << 53, -(1 << 53), math.MaxInt64, math.MinInt64}))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(pick(random, []uint64{0, 1, 1 << 32, 1<<53 - 1, 1 << 53, math.MaxUint64}))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(pick(random, []float64{0, math.Copysign(0, -1), 0.1, 1e300, math.Inf(1), math.Inf(-1), 5e-324}))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(pick(random, []float32{0, 0.1, 1e30, float32(math.Inf(1)), math.SmallestNonzeroFloat32}))
	}
	panic("no random values for " + f.Kind().String())
}

// A field of a later release, in one of the forms that fields have on the wire. The last of them,
// groups, protobufjs 8.8.1 takes for an error in messages that have no fields themselves.
func unknownField(random *rand.Rand, groups bool) []byte {
	number := protowire.Number(1000 + random.Intn(100000))
	forms := 4
	if groups {
		forms = 5
	}
	switch random.Intn(forms) {
	case 0:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), random.Uint64())
	case 1:
		return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), random.Uint32())
	case 2:
		return protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), random.Uint64())
	case 3:
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), []byte("later"))
	default:
		inner := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 5)
		return protowire.AppendGroup(protowire.AppendTag(nil, number, protowire.StartGroupType), number, inner)
	}
}

func pick[T any](random *rand.Rand, items []T) T {
	return items[random.Intn(len(items))]
}
