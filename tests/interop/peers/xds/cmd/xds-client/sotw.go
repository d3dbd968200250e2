package main

import (
	"context"
	"slices"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// sotw is the client of the state-of-the-world variant.
type sotw struct {
	options
	watches map[string]*sotwWatch
}

type sotwWatch struct {
	names          []string
	version, nonce string
}

func newSotw(o options) *sotw {
	s := &sotw{options: o, watches: map[string]*sotwWatch{}}
	for _, typeURL := range o.types {
		s.watches[typeURL] = &sotwWatch{names: slices.Clone(o.names)}
	}
	return s
}

func (s *sotw) run(ctx context.Context, ads discovery.AggregatedDiscoveryServiceClient, commands <-chan command) error {
	stream, err := ads.StreamAggregatedResources(ctx)
	if err != nil {
		return err
	}
	report(map[string]any{"event": "stream-open"})
	for _, typeURL := range s.types {
		s.watches[typeURL].nonce = ""
		if err := stream.Send(s.request(typeURL)); err != nil {
			return err
		}
	}
	responses, ended := make(chan *discovery.DiscoveryResponse), make(chan error, 1)
	go receive(ctx, stream.Recv, responses, ended)
	for {
		select {
		case err := <-ended:
			return err
		case response := <-responses:
			if err := stream.Send(s.take(response)); err != nil {
				return err
			}
		case command := <-commands:
			if command.verb == "reconnect" {
				return stream.CloseSend()
			}
			s.subscribe(command)
			if err := stream.Send(s.request(command.typeURL)); err != nil {
				return err
			}
		}
	}
}

func (s *sotw) subscribe(c command) {
	watch := s.watches[c.typeURL]
	for _, name := range c.names {
		watch.names = slices.DeleteFunc(watch.names, func(n string) bool { return n == name })
		if c.verb == "subscribe" {
			watch.names = append(watch.names, name)
		}
	}
}

func (s *sotw) request(typeURL string) *discovery.DiscoveryRequest {
	watch := s.watches[typeURL]
	return &discovery.DiscoveryRequest{
		Node: s.node, TypeUrl: typeURL, ResourceNames: slices.Clone(watch.names),
		VersionInfo: watch.version, ResponseNonce: watch.nonce,
	}
}

// take reports a response and gives its ACK or NACK.
func (s *sotw) take(response *discovery.DiscoveryResponse) *discovery.DiscoveryRequest {
	held, names := map[string]string{}, []string{}
	resources := []resource{}
	for _, outer := range response.GetResources() {
		decoded, err := decode(outer)
		if err != nil {
			fail(err)
		}
		resources, names = append(resources, decoded), append(names, decoded.Name)
		held[decoded.Name] = decoded.Version
	}
	watch := s.watches[response.GetTypeUrl()]
	watch.nonce = response.GetNonce()
	refusal := s.refusal(names)
	if refusal == nil {
		watch.version = response.GetVersionInfo()
	}
	report(map[string]any{
		"event": "response", "type": response.GetTypeUrl(), "version": response.GetVersionInfo(), "nonce": response.GetNonce(),
		"controlPlane": response.GetControlPlane().GetIdentifier(), "resources": resources, "removed": []string{},
		"held": held, "nack": refusal.GetMessage(),
	})
	request := s.request(response.GetTypeUrl())
	request.ErrorDetail = refusal
	return request
}

// receive hands over what a stream receives, until it ends.
func receive[T any](ctx context.Context, next func() (T, error), received chan<- T, ended chan<- error) {
	for {
		message, err := next()
		if err != nil {
			ended <- err
			return
		}
		select {
		case received <- message:
		case <-ctx.Done():
			return
		}
	}
}
