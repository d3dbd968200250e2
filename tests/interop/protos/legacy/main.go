// Tells what the last Go module with all of MCP knows of the wire types, and reads messages with it.
// Newer ones have the messages of resources alone.
//
//	protos describe NAME...  types and services, as JSON
//	protos read              JSON lines with type and bytes in, what Go makes of them out
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gogo/protobuf/proto"
	"github.com/gogo/protobuf/protoc-gen-gogo/descriptor"
	_ "istio.io/api/mcp/v1alpha1"
	_ "istio.io/api/networking/v1alpha3"
)

var files = []string{
	"mcp/v1alpha1/mcp.proto",
	"mcp/v1alpha1/metadata.proto",
	"mcp/v1alpha1/resource.proto",
	"networking/v1alpha3/gateway.proto",
	"networking/v1alpha3/service_entry.proto",
	"networking/v1alpha3/sidecar.proto",
}

type field struct {
	Name     string `json:"name"`
	JSONName string `json:"jsonName"`
	Number   int    `json:"number"`
	Type     string `json:"type"`
	TypeName string `json:"typeName,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
	MapKey   string `json:"mapKey,omitempty"`
	Oneof    string `json:"oneof,omitempty"`
}

type method struct {
	Name         string `json:"name"`
	Input        string `json:"input"`
	Output       string `json:"output"`
	ClientStream bool   `json:"clientStream"`
	ServerStream bool   `json:"serverStream"`
}

type description struct {
	Name    string           `json:"name"`
	Fields  []field          `json:"fields,omitempty"`
	Nested  []string         `json:"nested,omitempty"`
	Values  map[string]int32 `json:"values,omitempty"`
	Methods []method         `json:"methods,omitempty"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) >= 1 && args[0] == "describe":
		known, err := describeAll()
		if err != nil {
			return err
		}
		out := []description{}
		for _, name := range args[1:] {
			if d, ok := known[name]; ok {
				out = append(out, d)
			}
		}
		return json.NewEncoder(os.Stdout).Encode(out)
	case len(args) == 1 && args[0] == "read":
		return read(os.Stdin, os.Stdout)
	}
	return fmt.Errorf("usage: protos describe NAME... | read")
}

func describeAll() (map[string]description, error) {
	out := map[string]description{}
	for _, path := range files {
		file, err := load(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, m := range file.MessageType {
			addMessage(out, file.GetPackage(), m)
		}
		for _, e := range file.EnumType {
			addEnum(out, file.GetPackage(), e)
		}
		for _, s := range file.Service {
			name := file.GetPackage() + "." + s.GetName()
			d := description{Name: name}
			for _, m := range s.Method {
				d.Methods = append(d.Methods, method{
					Name:         m.GetName(),
					Input:        strings.TrimPrefix(m.GetInputType(), "."),
					Output:       strings.TrimPrefix(m.GetOutputType(), "."),
					ClientStream: m.GetClientStreaming(),
					ServerStream: m.GetServerStreaming(),
				})
			}
			out[name] = d
		}
	}
	return out, nil
}

func load(path string) (*descriptor.FileDescriptorProto, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(proto.FileDescriptor(path)))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(zipped)
	if err != nil {
		return nil, err
	}
	file := &descriptor.FileDescriptorProto{}
	return file, proto.Unmarshal(raw, file)
}

func addMessage(out map[string]description, scope string, m *descriptor.DescriptorProto) {
	name := scope + "." + m.GetName()
	entries := map[string]*descriptor.DescriptorProto{}
	d := description{Name: name}
	for _, nested := range m.NestedType {
		if nested.GetOptions().GetMapEntry() {
			entries["."+name+"."+nested.GetName()] = nested
			continue
		}
		addMessage(out, name, nested)
		d.Nested = append(d.Nested, name+"."+nested.GetName())
	}
	for _, e := range m.EnumType {
		addEnum(out, name, e)
		d.Nested = append(d.Nested, name+"."+e.GetName())
	}
	for _, f := range m.Field {
		d.Fields = append(d.Fields, describeField(m, entries, f))
	}
	out[name] = d
}

func describeField(
	m *descriptor.DescriptorProto,
	entries map[string]*descriptor.DescriptorProto,
	f *descriptor.FieldDescriptorProto,
) field {
	out := field{
		Name:     f.GetName(),
		JSONName: f.GetJsonName(),
		Number:   int(f.GetNumber()),
		Repeated: f.GetLabel() == descriptor.FieldDescriptorProto_LABEL_REPEATED,
	}
	if f.OneofIndex != nil {
		out.Oneof = m.OneofDecl[*f.OneofIndex].GetName()
	}
	value := f
	if entry, ok := entries[f.GetTypeName()]; ok {
		out.Repeated = false
		out.MapKey = typeOf(entry.Field[0])
		value = entry.Field[1]
	}
	out.Type = typeOf(value)
	out.TypeName = strings.TrimPrefix(value.GetTypeName(), ".")
	return out
}

func typeOf(f *descriptor.FieldDescriptorProto) string {
	return strings.ToLower(strings.TrimPrefix(f.GetType().String(), "TYPE_"))
}

func addEnum(out map[string]description, scope string, e *descriptor.EnumDescriptorProto) {
	name := scope + "." + e.GetName()
	values := map[string]int32{}
	for _, v := range e.Value {
		values[v.GetName()] = v.GetNumber()
	}
	out[name] = description{Name: name, Values: values}
}
