package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	mcp "istio.io/api/mcp/v1alpha1"

	// Bodies are decoded by their registered names.
	_ "istio.io/api/networking/v1alpha3"
)

// A resource as it was decoded: the outer Any, the MCP resource in it, the body in that.
type resource struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	AnyType string          `json:"anyType"`
	Type    string          `json:"bodyType"`
	Meta    json.RawMessage `json:"metadata"`
	Body    json.RawMessage `json:"body"`
}

// decode reads one entry of a response as istiod does.
func decode(outer *anypb.Any) (resource, error) {
	inner := &mcp.Resource{}
	if got := strings.TrimPrefix(outer.GetTypeUrl(), "type.googleapis.com/"); got != string(inner.ProtoReflect().Descriptor().FullName()) {
		return resource{}, fmt.Errorf("resource is a %q", outer.GetTypeUrl())
	}
	if err := proto.Unmarshal(outer.GetValue(), inner); err != nil {
		return resource{}, fmt.Errorf("resource: %w", err)
	}
	body, err := inner.GetBody().UnmarshalNew()
	if err != nil {
		return resource{}, fmt.Errorf("body of %s: %w", inner.GetMetadata().GetName(), err)
	}
	bodyJSON, err := protojson.Marshal(body)
	if err != nil {
		return resource{}, err
	}
	metadataJSON, err := protojson.Marshal(inner.GetMetadata())
	if err != nil {
		return resource{}, err
	}
	return resource{
		Name: inner.GetMetadata().GetName(), Version: inner.GetMetadata().GetVersion(),
		AnyType: outer.GetTypeUrl(), Type: inner.GetBody().GetTypeUrl(), Meta: metadataJSON, Body: bodyJSON,
	}, nil
}
