package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A message as it passes between the test and us. The value follows the rules of lib/wire/codec.ts,
// but that integers are texts, floating point numbers the hexadecimal of their bits or NaN, and bytes base64.
type line struct {
	Type  string `json:"type"`
	Bytes []byte `json:"bytes"`
	Value any    `json:"value,omitempty"`
	// Why the bytes are not such a message.
	Error string `json:"error,omitempty"`
	// Whether there was anything that Go has no field for.
	Unknown bool `json:"unknown,omitempty"`
}

func read(in io.Reader, out io.Writer) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 64<<20)
	writer := bufio.NewWriter(out)
	defer writer.Flush()
	encoder := json.NewEncoder(writer)
	for scanner.Scan() {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return err
		}
		answer, err := readOne(l)
		if err != nil {
			return err
		}
		if err := encoder.Encode(answer); err != nil {
			return err
		}
	}
	return scanner.Err()
}

func readOne(l line) (line, error) {
	t, err := messageType(l.Type)
	if err != nil {
		return line{}, fmt.Errorf("%s: %w", l.Type, err)
	}
	m := t.New()
	if err := proto.Unmarshal(l.Bytes, m.Interface()); err != nil {
		return line{Type: l.Type, Error: err.Error()}, nil
	}
	return lineOf(m)
}

func lineOf(m protoreflect.Message) (line, error) {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
	if err != nil {
		return line{}, err
	}
	out := line{Type: string(m.Descriptor().FullName()), Bytes: bytes}
	out.Value = valueOfMessage(m, &out.Unknown)
	return out, nil
}

func valueOfMessage(m protoreflect.Message, unknown *bool) map[string]any {
	if len(m.GetUnknown()) > 0 {
		*unknown = true
	}
	out := map[string]any{}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.HasPresence() && !m.Has(f) {
			continue
		}
		value := m.Get(f)
		switch {
		case f.IsMap():
			entries := map[string]any{}
			value.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				entries[k.String()] = valueOf(f.MapValue(), v, unknown)
				return true
			})
			out[f.JSONName()] = entries
		case f.IsList():
			items := []any{}
			for i := range value.List().Len() {
				items = append(items, valueOf(f, value.List().Get(i), unknown))
			}
			out[f.JSONName()] = items
		default:
			out[f.JSONName()] = valueOf(f, value, unknown)
		}
	}
	return out
}

func valueOf(f protoreflect.FieldDescriptor, v protoreflect.Value, unknown *bool) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return valueOfMessage(v.Message(), unknown)
	case protoreflect.EnumKind:
		if named := f.Enum().Values().ByNumber(v.Enum()); named != nil {
			return string(named.Name())
		}
		return strconv.Itoa(int(v.Enum()))
	case protoreflect.StringKind:
		return v.String()
	case protoreflect.BoolKind:
		return v.Bool()
	case protoreflect.BytesKind:
		return base64.StdEncoding.EncodeToString(v.Bytes())
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		if math.IsNaN(v.Float()) {
			return "NaN" // of whichever bits: JavaScript knows but one
		}
		return fmt.Sprintf("%016x", math.Float64bits(v.Float()))
	default:
		return v.String()
	}
}
