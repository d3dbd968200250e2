package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/config"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	xds "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"
)

// What is to be served from now on.
type world struct {
	// By type URL.
	Types map[string]worldType `json:"types"`
}

type worldType struct {
	Version   string          `json:"version"`
	Resources []worldResource `json:"resources"`
}

type worldResource struct {
	Name string `json:"name"`
	// type_url of the Any.
	AnyType string `json:"anyType"`
	Bytes   []byte `json:"bytes"`
}

// A snapshot as go-control-plane takes it. Its own only knows Envoy's types.
type snapshot struct {
	versions  map[string]string
	resources map[string]map[string]types.Resource
	hashes    map[string]map[string]string
}

func (s *snapshot) GetVersion(typeURL string) string { return s.versions[typeURL] }

func (s *snapshot) GetResources(typeURL string) map[string]types.Resource {
	return s.resources[typeURL]
}

func (s *snapshot) GetResourcesAndTTL(typeURL string) map[string]types.ResourceWithTTL {
	all := map[string]types.ResourceWithTTL{}
	for name, resource := range s.resources[typeURL] {
		all[name] = types.ResourceWithTTL{Resource: resource}
	}
	return all
}

func (s *snapshot) GetVersionMap(typeURL string) map[string]string { return s.hashes[typeURL] }

// As go-control-plane's own snapshot makes the versions of delta.
func (s *snapshot) ConstructVersionMap() error {
	if s.hashes != nil {
		return nil
	}
	hashes := map[string]map[string]string{}
	for typeURL, resources := range s.resources {
		hashes[typeURL] = map[string]string{}
		for name, resource := range resources {
			bytes, err := cache.MarshalResource(resource)
			if err != nil {
				return err
			}
			hashes[typeURL][name] = cache.HashResource(bytes)
		}
	}
	s.hashes = hashes
	return nil
}

func snapshotOf(given world) (*snapshot, error) {
	made := &snapshot{versions: map[string]string{}, resources: map[string]map[string]types.Resource{}}
	for typeURL, kind := range given.Types {
		made.versions[typeURL] = kind.Version
		made.resources[typeURL] = map[string]types.Resource{}
		for _, resource := range kind.Resources {
			packed := anypb.Any{TypeUrl: resource.AnyType, Value: resource.Bytes}
			message, err := packed.UnmarshalNew()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", resource.Name, err)
			}
			made.resources[typeURL][resource.Name] = message
		}
	}
	return made, made.ConstructVersionMap()
}

// Every client is one group of nodes.
type oneGroup struct{}

func (oneGroup) ID(*core.Node) string { return "all" }

// serve serves what comes on standard input, one world a line, each in place of the one before.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	address := flags.String("address", "127.0.0.1:0", "host:port")
	ads := flags.Bool("ads", true, "the cache's ADS mode: names asked for must be all that there are")
	wildcard := flags.Bool("wildcard", true, "whether naming nothing asks for all; false is recommended for gRPC")
	ordered := flags.Bool("ordered", true, "the server's ordered ADS")
	if err := flags.Parse(args); err != nil {
		return err
	}
	snapshots := cache.NewSnapshotCache(*ads, oneGroup{}, nil)
	options := []config.XDSOption{}
	if *ordered {
		options = append(options, sotw.WithOrderedADS())
	}
	if !*wildcard {
		options = append(options, config.DeactivateLegacyWildcard())
	}
	server := xds.NewServer(context.Background(), snapshots, nil, options...)
	go func() {
		err := commands(func(given world) error {
			made, err := snapshotOf(given)
			if err != nil {
				return err
			}
			if err := snapshots.SetSnapshot(context.Background(), "all", made); err != nil {
				return err
			}
			report(map[string]any{"event": "set"})
			return nil
		})
		if err != nil {
			fail(err)
		}
		os.Exit(0)
	}()
	return listen(*address, func(s *grpc.Server) {
		discovery.RegisterAggregatedDiscoveryServiceServer(s, server)
	})
}
