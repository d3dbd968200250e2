package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// What descriptors are compared with, as far as it is there.
	_ "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dynamic_forward_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/common/dynamic_forward_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/dynamic_forward_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_web/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/http_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/retry/host/previous_hosts/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/retry/priority/previous_priorities/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	_ "google.golang.org/grpc/health/grpc_health_v1"
	_ "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
)

// report says what came of the descriptors of a server.
type report struct {
	Services []string `json:"services"`
	Files    int      `json:"files"`
	// Compared counts the messages, enums and services that Go's own packages have too.
	Compared int      `json:"compared"`
	Unlike   []string `json:"unlike"`
}

// descriptors asks for the files of every service and of these symbols, builds them as strictly as protoc
// does, and compares them with those of Go's own packages: whatever ours has must be there, and be the same.
func descriptors(ctx context.Context, conn *grpc.ClientConn, symbols []string) error {
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return err
	}
	services, err := list(stream)
	if err != nil {
		return err
	}
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	wanted := append(append([]string{}, services...), symbols...)
	for _, symbol := range wanted {
		files, err := filesOf(stream, symbol)
		if err != nil {
			return err
		}
		for _, file := range files {
			if !seen[file.GetName()] {
				seen[file.GetName()] = true
				set.File = append(set.File, file)
			}
		}
	}
	registry, err := protodesc.NewFiles(set)
	if err != nil {
		return fmt.Errorf("the files are no whole: %w", err)
	}
	result := report{Services: services, Files: len(set.File), Unlike: []string{}}
	for _, symbol := range wanted {
		if _, err := registry.FindDescriptorByName(protoreflect.FullName(symbol)); err != nil {
			return fmt.Errorf("%s: %w", symbol, err)
		}
	}
	registry.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		result.compareFile(file)
		return true
	})
	return print(result)
}

func list(stream reflectionpb.ServerReflection_ServerReflectionInfoClient) ([]string, error) {
	request := &reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
	}
	response, err := ask(stream, request)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	return names, nil
}

func filesOf(stream reflectionpb.ServerReflection_ServerReflectionInfoClient, symbol string) ([]*descriptorpb.FileDescriptorProto, error) {
	request := &reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol},
	}
	response, err := ask(stream, request)
	if err != nil {
		return nil, err
	}
	files := []*descriptorpb.FileDescriptorProto{}
	for _, bytes := range response.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(bytes, file); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func ask(stream reflectionpb.ServerReflection_ServerReflectionInfoClient, request *reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error) {
	if err := stream.Send(request); err != nil {
		return nil, err
	}
	response, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	if failure := response.GetErrorResponse(); failure != nil {
		return nil, fmt.Errorf("%v: %s", request, failure.GetErrorMessage())
	}
	return response, nil
}

func (r *report) unlike(format string, values ...any) {
	r.Unlike = append(r.Unlike, fmt.Sprintf(format, values...))
}

func (r *report) compareFile(file protoreflect.FileDescriptor) {
	for i := range file.Services().Len() {
		r.compareService(file.Services().Get(i))
	}
	r.compareAll(file.Messages(), file.Enums())
}

func (r *report) compareAll(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) {
	for i := range enums.Len() {
		r.compareEnum(enums.Get(i))
	}
	for i := range messages.Len() {
		message := messages.Get(i)
		r.compareMessage(message)
		r.compareAll(message.Messages(), message.Enums())
	}
}

// known is what Go's own packages have under this name.
func known(name protoreflect.FullName) protoreflect.Descriptor {
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil
	}
	return found
}

func (r *report) compareService(ours protoreflect.ServiceDescriptor) {
	theirs, ok := known(ours.FullName()).(protoreflect.ServiceDescriptor)
	if !ok {
		return
	}
	r.Compared++
	for i := range ours.Methods().Len() {
		method := ours.Methods().Get(i)
		same := theirs.Methods().ByName(method.Name())
		if same == nil || same.Input().FullName() != method.Input().FullName() ||
			same.Output().FullName() != method.Output().FullName() ||
			same.IsStreamingClient() != method.IsStreamingClient() ||
			same.IsStreamingServer() != method.IsStreamingServer() {
			r.unlike("method %s", method.FullName())
		}
	}
}

func (r *report) compareEnum(ours protoreflect.EnumDescriptor) {
	theirs, ok := known(ours.FullName()).(protoreflect.EnumDescriptor)
	if !ok {
		return
	}
	r.Compared++
	for i := range ours.Values().Len() {
		value := ours.Values().Get(i)
		same := theirs.Values().ByName(value.Name())
		if same == nil || same.Number() != value.Number() {
			r.unlike("value %s", value.FullName())
		}
	}
}

func (r *report) compareMessage(ours protoreflect.MessageDescriptor) {
	theirs, ok := known(ours.FullName()).(protoreflect.MessageDescriptor)
	if !ok {
		return
	}
	r.Compared++
	if theirs.IsMapEntry() != ours.IsMapEntry() {
		r.unlike("message %s", ours.FullName())
	}
	for i := range ours.Fields().Len() {
		field := ours.Fields().Get(i)
		if same := theirs.Fields().ByName(field.Name()); same == nil || !alike(field, same) {
			r.unlike("field %s", field.FullName())
		}
	}
}

func alike(a, b protoreflect.FieldDescriptor) bool {
	if a.Number() != b.Number() || a.Kind() != b.Kind() || a.Cardinality() != b.Cardinality() ||
		a.JSONName() != b.JSONName() || a.IsMap() != b.IsMap() || a.IsPacked() != b.IsPacked() ||
		a.HasPresence() != b.HasPresence() || oneof(a) != oneof(b) {
		return false
	}
	if a.Message() != nil && a.Message().FullName() != b.Message().FullName() {
		return false
	}
	return a.Enum() == nil || a.Enum().FullName() == b.Enum().FullName()
}

func oneof(field protoreflect.FieldDescriptor) protoreflect.Name {
	if field.ContainingOneof() == nil {
		return ""
	}
	return field.ContainingOneof().Name()
}
