package main

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

type field struct {
	Name     string `json:"name"`
	JSONName string `json:"jsonName"`
	Number   int    `json:"number"`
	// string, uint32, …, message or enum; of a map: of its values.
	Type     string `json:"type"`
	TypeName string `json:"typeName,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
	// Type of the keys of a map.
	MapKey   string `json:"mapKey,omitempty"`
	Oneof    string `json:"oneof,omitempty"`
	Optional bool   `json:"optional,omitempty"`
}

type method struct {
	Name         string `json:"name"`
	Input        string `json:"input"`
	Output       string `json:"output"`
	ClientStream bool   `json:"clientStream"`
	ServerStream bool   `json:"serverStream"`
}

// One type or service. What has no such thing leaves it out.
type description struct {
	Name    string         `json:"name"`
	Fields  []field        `json:"fields,omitempty"`
	Nested  []string       `json:"nested,omitempty"`
	Values  map[string]int `json:"values,omitempty"`
	Methods []method       `json:"methods,omitempty"`
}

// Names that are not known are left out.
func describe(names []string) []description {
	out := []description{}
	for _, name := range names {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			continue
		}
		switch d := d.(type) {
		case protoreflect.MessageDescriptor:
			out = append(out, describeMessage(d))
		case protoreflect.EnumDescriptor:
			values := map[string]int{}
			for i := range d.Values().Len() {
				v := d.Values().Get(i)
				values[string(v.Name())] = int(v.Number())
			}
			out = append(out, description{Name: name, Values: values})
		case protoreflect.ServiceDescriptor:
			out = append(out, describeService(d))
		}
	}
	return out
}

func describeMessage(d protoreflect.MessageDescriptor) description {
	out := description{Name: string(d.FullName())}
	for i := range d.Fields().Len() {
		out.Fields = append(out.Fields, describeField(d.Fields().Get(i)))
	}
	for i := range d.Messages().Len() {
		if nested := d.Messages().Get(i); !nested.IsMapEntry() {
			out.Nested = append(out.Nested, string(nested.FullName()))
		}
	}
	for i := range d.Enums().Len() {
		out.Nested = append(out.Nested, string(d.Enums().Get(i).FullName()))
	}
	return out
}

func describeField(d protoreflect.FieldDescriptor) field {
	out := field{
		Name:     string(d.Name()),
		JSONName: d.JSONName(),
		Number:   int(d.Number()),
		Repeated: d.IsList(),
		Optional: d.HasOptionalKeyword(),
	}
	if oneof := d.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		out.Oneof = string(oneof.Name())
	}
	value := d
	if d.IsMap() {
		out.MapKey = d.MapKey().Kind().String()
		value = d.MapValue()
	}
	out.Type = value.Kind().String()
	if m := value.Message(); m != nil {
		out.TypeName = string(m.FullName())
	}
	if e := value.Enum(); e != nil {
		out.TypeName = string(e.FullName())
	}
	return out
}

func describeService(d protoreflect.ServiceDescriptor) description {
	out := description{Name: string(d.FullName())}
	for i := range d.Methods().Len() {
		m := d.Methods().Get(i)
		out.Methods = append(out.Methods, method{
			Name:         string(m.Name()),
			Input:        string(m.Input().FullName()),
			Output:       string(m.Output().FullName()),
			ClientStream: m.IsStreamingClient(),
			ServerStream: m.IsStreamingServer(),
		})
	}
	return out
}
