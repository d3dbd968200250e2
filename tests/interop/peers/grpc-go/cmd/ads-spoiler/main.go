// ads-spoiler -listen HOST:PORT -upstream HOST:PORT stands between an xDS client and its server and passes
// on what both say, until it is told to spoil answers: `spoil eds` and `spoil cds` make each answer of that
// type one that gRPC must refuse, `pass` ends that. It reports what it spoiled and what was refused.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"pinnace.example/interop/grpc-go/internal/report"
)

const (
	cds = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	eds = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
)

type stream = discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer

// A spoiler is the server towards the client, and a client of the real server.
type spoiler struct {
	discovery.UnimplementedAggregatedDiscoveryServiceServer
	upstream discovery.AggregatedDiscoveryServiceClient
	// Type URL that is spoiled; empty: none.
	spoiled atomic.Value
}

func (s *spoiler) StreamAggregatedResources(client stream) error {
	server, err := s.upstream.StreamAggregatedResources(client.Context())
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- passRequests(client, server) }()
	go func() { ended <- s.passResponses(client, server) }()
	return <-ended
}

func passRequests(
	client stream,
	server discovery.AggregatedDiscoveryService_StreamAggregatedResourcesClient,
) error {
	for {
		request, err := client.Recv()
		if err != nil {
			return err
		}
		if request.ErrorDetail != nil {
			report.Event(map[string]any{
				"event": "refused", "type": request.TypeUrl, "reason": request.ErrorDetail.Message,
			})
		}
		if err := server.Send(request); err != nil {
			return err
		}
	}
}

func (s *spoiler) passResponses(
	client stream,
	server discovery.AggregatedDiscoveryService_StreamAggregatedResourcesClient,
) error {
	for {
		response, err := server.Recv()
		if err != nil {
			return err
		}
		if response.TypeUrl == s.spoiled.Load() {
			for i, resource := range response.Resources {
				response.Resources[i] = spoil(resource)
			}
			report.Event(map[string]any{"event": "spoiled", "type": response.TypeUrl})
		}
		if err := client.Send(response); err != nil {
			return err
		}
	}
}

// spoil makes it one that gRPC clients must refuse: a balancing policy that they lack, no endpoints of the
// first priority but of the second.
func spoil(resource *anypb.Any) *anypb.Any {
	message, err := resource.UnmarshalNew()
	if err != nil {
		report.Fail(err)
	}
	switch m := message.(type) {
	case *cluster.Cluster:
		m.LbPolicy = cluster.Cluster_MAGLEV
	case *endpoint.ClusterLoadAssignment:
		for _, locality := range m.Endpoints {
			locality.Priority++
		}
	}
	spoiled, err := anypb.New(proto.Message(message))
	if err != nil {
		report.Fail(err)
	}
	return spoiled
}

func main() {
	listen := flag.String("listen", "", "where clients dial, HOST:PORT")
	upstream := flag.String("upstream", "", "the real server, HOST:PORT")
	flag.Parse()
	conn, err := grpc.NewClient(*upstream, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		report.Fail(err)
	}
	s := &spoiler{upstream: discovery.NewAggregatedDiscoveryServiceClient(conn)}
	s.spoiled.Store("")
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		report.Fail(err)
	}
	server := grpc.NewServer()
	discovery.RegisterAggregatedDiscoveryServiceServer(server, s)
	go func() { report.Fail(server.Serve(listener)) }()
	report.Event(map[string]any{"event": "ready"})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch strings.TrimSpace(lines.Text()) {
		case "spoil cds":
			s.spoiled.Store(cds)
		case "spoil eds":
			s.spoiled.Store(eds)
		case "pass":
			s.spoiled.Store("")
		default:
			report.Fail(fmt.Errorf("no such command: %q", lines.Text()))
		}
		report.Event(map[string]any{"event": "done"})
	}
}
