package main

import (
	"context"
	"maps"
	"slices"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// delta is the client of the incremental variant.
type delta struct {
	options
	watches map[string]*deltaWatch
}

type deltaWatch struct {
	names []string          // subscribed to; none: the wildcard
	held  map[string]string // name to version
}

func newDelta(o options) *delta {
	d := &delta{options: o, watches: map[string]*deltaWatch{}}
	for _, typeURL := range o.types {
		d.watches[typeURL] = &deltaWatch{names: slices.Clone(o.names), held: map[string]string{}}
	}
	return d
}

func (d *delta) run(ctx context.Context, ads discovery.AggregatedDiscoveryServiceClient, commands <-chan command) error {
	stream, err := ads.DeltaAggregatedResources(ctx)
	if err != nil {
		return err
	}
	report(map[string]any{"event": "stream-open"})
	for _, typeURL := range d.types {
		watch := d.watches[typeURL]
		if err := stream.Send(&discovery.DeltaDiscoveryRequest{
			Node: d.node, TypeUrl: typeURL, ResourceNamesSubscribe: slices.Clone(watch.names),
			InitialResourceVersions: maps.Clone(watch.held),
		}); err != nil {
			return err
		}
	}
	responses, ended := make(chan *discovery.DeltaDiscoveryResponse), make(chan error, 1)
	go receive(ctx, stream.Recv, responses, ended)
	for {
		select {
		case err := <-ended:
			return err
		case response := <-responses:
			if err := stream.Send(d.take(response)); err != nil {
				return err
			}
		case command := <-commands:
			if command.verb == "reconnect" {
				return stream.CloseSend()
			}
			if err := stream.Send(d.subscribe(command)); err != nil {
				return err
			}
		}
	}
}

// subscribe keeps the change of names and gives the request that says it: a spontaneous one, without a nonce.
func (d *delta) subscribe(c command) *discovery.DeltaDiscoveryRequest {
	watch := d.watches[c.typeURL]
	request := &discovery.DeltaDiscoveryRequest{TypeUrl: c.typeURL}
	if c.verb == "subscribe" {
		watch.names = append(watch.names, c.names...)
		request.ResourceNamesSubscribe = c.names
		return request
	}
	for _, name := range c.names {
		watch.names = slices.DeleteFunc(watch.names, func(n string) bool { return n == name })
		delete(watch.held, name)
	}
	request.ResourceNamesUnsubscribe = c.names
	return request
}

// take reports a response and gives its ACK or NACK.
func (d *delta) take(response *discovery.DeltaDiscoveryResponse) *discovery.DeltaDiscoveryRequest {
	resources, names := []resource{}, []string{}
	for _, entry := range response.GetResources() {
		decoded, err := decode(entry.GetResource())
		if err != nil {
			fail(err)
		}
		if decoded.Name != entry.GetName() || decoded.Version != entry.GetVersion() {
			report(map[string]any{"event": "mismatch", "outer": entry.GetName() + "@" + entry.GetVersion(), "inner": decoded.Name + "@" + decoded.Version})
		}
		resources, names = append(resources, decoded), append(names, decoded.Name)
	}
	watch := d.watches[response.GetTypeUrl()]
	refusal := d.refusal(names)
	if refusal == nil {
		for _, taken := range resources {
			watch.held[taken.Name] = taken.Version
		}
		for _, name := range response.GetRemovedResources() {
			delete(watch.held, name)
		}
	}
	report(map[string]any{
		"event": "response", "type": response.GetTypeUrl(), "version": response.GetSystemVersionInfo(), "nonce": response.GetNonce(),
		"controlPlane": response.GetControlPlane().GetIdentifier(), "resources": resources,
		"removed": append([]string{}, response.GetRemovedResources()...), "held": watch.held, "nack": refusal.GetMessage(),
	})
	return &discovery.DeltaDiscoveryRequest{
		TypeUrl: response.GetTypeUrl(), ResponseNonce: response.GetNonce(), ErrorDetail: refusal,
	}
}
