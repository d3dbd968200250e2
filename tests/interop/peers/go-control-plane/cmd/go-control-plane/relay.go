package main

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"sync"
	"sync/atomic"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// relayed is ADS that is passed on message by message.
type relayed struct {
	discovery.UnimplementedAggregatedDiscoveryServiceServer
	upstream discovery.AggregatedDiscoveryServiceClient
	streams  atomic.Int64

	lock sync.Mutex
	// What streams opened since the last cut end with.
	all    context.Context
	cutAll context.CancelFunc
}

func (r *relayed) cut() {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.cutAll != nil {
		r.cutAll()
	}
	r.all, r.cutAll = context.WithCancel(context.Background())
}

// joined is a stream's context that ends with a cut as well.
func (r *relayed) joined(ctx context.Context) (context.Context, func()) {
	r.lock.Lock()
	defer r.lock.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(r.all, cancel)
	return ctx, cancel
}

// said is what standard input says to a relay: one of its fields.
type said struct {
	// A word to report between what passed before it and what passes after it.
	Mark string `json:"mark"`
	// Ends every stream, as a control plane does that goes away.
	Cut bool `json:"cut"`
}

// relay stands between clients and a control plane.
func relay(args []string) error {
	flags := flag.NewFlagSet("relay", flag.ExitOnError)
	address := flags.String("address", "127.0.0.1:0", "host:port for clients")
	upstream := flags.String("upstream", "", "host:port of the control plane")
	if err := flags.Parse(args); err != nil {
		return err
	}
	connection, err := grpc.NewClient(*upstream, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return err
	}
	passing := &relayed{upstream: discovery.NewAggregatedDiscoveryServiceClient(connection)}
	passing.cut()
	go func() {
		if err := commands(func(given said) error {
			if given.Cut {
				passing.cut()
			} else {
				report(map[string]any{"event": "mark", "mark": given.Mark})
			}
			return nil
		}); err != nil {
			fail(err)
		}
		os.Exit(0)
	}()
	return listen(*address, func(s *grpc.Server) {
		discovery.RegisterAggregatedDiscoveryServiceServer(s, passing)
	})
}

func (r *relayed) StreamAggregatedResources(down discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	id := r.opened("sotw")
	defer report(map[string]any{"event": "closed", "stream": id})
	return pass(r, id, down, reportSotw,
		func(ctx context.Context) (pair[*discovery.DiscoveryRequest, *discovery.DiscoveryResponse], error) {
			return r.upstream.StreamAggregatedResources(ctx)
		})
}

func (r *relayed) DeltaAggregatedResources(down discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	id := r.opened("delta")
	defer report(map[string]any{"event": "closed", "stream": id})
	return pass(r, id, down, reportDelta,
		func(ctx context.Context) (pair[*discovery.DeltaDiscoveryRequest, *discovery.DeltaDiscoveryResponse], error) {
			return r.upstream.DeltaAggregatedResources(ctx)
		})
}

func (r *relayed) opened(mode string) int64 {
	id := r.streams.Add(1)
	report(map[string]any{"event": "opened", "stream": id, "mode": mode})
	return id
}

// pair is a stream as one end sees it: it sends one kind of message and receives another.
type pair[Sent, Received any] interface {
	Send(Sent) error
	Recv() (Received, error)
}

// downstream is a client's stream.
type downstream[Sent, Received any] interface {
	pair[Sent, Received]
	Context() context.Context
}

// pass passes messages on, both ways, until either end is over.
func pass[Request proto.Message, Response any](
	r *relayed, id int64, down downstream[Response, Request], tell func(int64, Response),
	open func(context.Context) (pair[Request, Response], error),
) error {
	ctx, cancel := r.joined(down.Context())
	defer cancel()
	up, err := open(ctx)
	if err != nil {
		return err
	}
	ends := make(chan error, 2)
	go func() {
		for {
			request, err := down.Recv()
			if err != nil {
				ends <- err
				return
			}
			reportRequest(id, request)
			if err := up.Send(request); err != nil {
				ends <- err
				return
			}
		}
	}()
	go func() {
		for {
			response, err := up.Recv()
			if err != nil {
				ends <- err
				return
			}
			tell(id, response)
			if err := down.Send(response); err != nil {
				ends <- err
				return
			}
		}
	}()
	err = <-ends
	if down.Context().Err() == nil && ctx.Err() != nil {
		return status.Error(codes.Unavailable, "cut")
	}
	return err
}

// reportRequest leaves out of a node what is long and says nothing of how it asks.
func reportRequest(id int64, request proto.Message) {
	shown := proto.Clone(request)
	if one, ok := shown.(interface{ GetNode() *core.Node }); ok && one.GetNode() != nil {
		one.GetNode().Extensions = nil
	}
	text, err := protojson.Marshal(shown)
	if err != nil {
		fail(err)
	}
	report(map[string]any{"event": "request", "stream": id, "request": json.RawMessage(text)})
}
