package main

import (
	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	mcp "istio.io/api/mcp/v1alpha1"
)

// A resource of a response.
type resource struct {
	Name string `json:"name"`
	// Of delta only.
	Version string `json:"version"`
	// type_url of the Any.
	AnyType string `json:"anyType"`
	Bytes   []byte `json:"bytes"`
}

// nameOf says what a resource calls itself; a delta response says its name beside it as well. What is
// of no known type is taken for one of Istio's, whatever its Any says.
func nameOf(packed *anypb.Any) string {
	message, err := packed.UnmarshalNew()
	if err != nil {
		message = &mcp.Resource{}
		if err := proto.Unmarshal(packed.GetValue(), message); err != nil {
			return "undecodable: " + err.Error()
		}
	}
	switch it := message.(type) {
	case *cluster.Cluster:
		return it.GetName()
	case *endpoint.ClusterLoadAssignment:
		return it.GetClusterName()
	case *listener.Listener:
		return it.GetName()
	case *route.RouteConfiguration:
		return it.GetName()
	case *mcp.Resource:
		return it.GetMetadata().GetName()
	default:
		return "of an unknown kind: " + packed.GetTypeUrl()
	}
}

func sotwResources(response *discovery.DiscoveryResponse) []resource {
	all := []resource{}
	for _, packed := range response.GetResources() {
		all = append(all, resource{Name: nameOf(packed), AnyType: packed.GetTypeUrl(), Bytes: packed.GetValue()})
	}
	return all
}

func deltaResources(response *discovery.DeltaDiscoveryResponse) []resource {
	all := []resource{}
	for _, one := range response.GetResources() {
		packed := one.GetResource()
		all = append(all, resource{
			Name: one.GetName(), Version: one.GetVersion(), AnyType: packed.GetTypeUrl(), Bytes: packed.GetValue(),
		})
	}
	return all
}

func reportSotw(stream int64, response *discovery.DiscoveryResponse) {
	report(map[string]any{
		"event": "response", "stream": stream, "type": response.GetTypeUrl(), "nonce": response.GetNonce(),
		"version": response.GetVersionInfo(), "resources": sotwResources(response), "removed": []string{},
	})
}

func reportDelta(stream int64, response *discovery.DeltaDiscoveryResponse) {
	removed := response.GetRemovedResources()
	if removed == nil {
		removed = []string{}
	}
	report(map[string]any{
		"event": "response", "stream": stream, "type": response.GetTypeUrl(), "nonce": response.GetNonce(),
		"version": response.GetSystemVersionInfo(), "resources": deltaResources(response), "removed": removed,
	})
}
