// mcp-sink-server listens with the sink of Istio 1.5.10, for a source that dials, and reports what it takes.
package main

import (
	"flag"
	"fmt"
	"math"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	mcp "istio.io/api/mcp/v1alpha1"
	"istio.io/istio/pkg/mcp/rate"
	"istio.io/istio/pkg/mcp/server"
	"istio.io/istio/pkg/mcp/sink"

	"pinnace.example/interop/istio15/internal/sinkpeer"
)

// reported tells of each stream before it hands it to Istio's server, and of its end.
type reported struct{ sink *sink.Server }

func (r reported) EstablishResourceStream(stream mcp.ResourceSink_EstablishResourceStreamServer) error {
	headers, _ := metadata.FromIncomingContext(stream.Context())
	opened := map[string]interface{}{"event": "stream-open", "headers": headers}
	if caller, ok := peer.FromContext(stream.Context()); ok {
		opened["from"] = caller.Addr.String()
		if info, ok := caller.AuthInfo.(credentials.TLSInfo); ok && len(info.State.PeerCertificates) > 0 {
			shown := info.State.PeerCertificates[0]
			opened["certificate"] = map[string]interface{}{
				"subject": shown.Subject.CommonName, "issuer": shown.Issuer.CommonName,
			}
		}
	}
	sinkpeer.Report(opened)
	err := r.sink.EstablishResourceStream(stream)
	sinkpeer.Report(map[string]interface{}{"event": "stream-end", "error": fmt.Sprint(err)})
	return err
}

func main() {
	address := flag.String("address", "127.0.0.1:0", "host:port to listen on")
	flags := sinkpeer.NewFlags()
	secure := newTLSFlags()
	flag.Parse()
	sinkpeer.QuietLog()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		sinkpeer.Fail(err)
	}
	// One sink for the life of the process, as in a Pilot: what was ACKed outlives a stream.
	shared := sink.NewServer(flags.SinkOptions(), &sink.ServerOptions{
		AuthChecker: server.NewAllowAllChecker(),
		RateLimiter: rate.NewRateLimiter(time.Millisecond, 1000).Create(),
	})
	grpcServer := grpc.NewServer(append(secure.serverOptions(), grpc.MaxRecvMsgSize(math.MaxInt32))...)
	mcp.RegisterResourceSinkServer(grpcServer, reported{shared})
	sinkpeer.Report(map[string]interface{}{"event": "listening", "address": listener.Addr().String()})
	if err := grpcServer.Serve(listener); err != nil {
		sinkpeer.Fail(err)
	}
}
