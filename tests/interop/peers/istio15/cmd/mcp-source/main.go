// mcp-source runs the MCP source of Istio 1.5.10 unchanged, as Galley does: it dials a ResourceSink, or
// listens as a ResourceSource. Each line of standard input is a JSON object that maps the name of a
// ServiceEntry (namespace/name) to the address of its endpoint; together they are the next snapshot.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gogo/protobuf/types"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	mcp "istio.io/api/mcp/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pkg/mcp/rate"
	"istio.io/istio/pkg/mcp/server"
	"istio.io/istio/pkg/mcp/snapshot"
	"istio.io/istio/pkg/mcp/source"

	"pinnace.example/interop/istio15/internal/sinkpeer"
)

const serviceEntries = "istio/networking/v1alpha3/serviceentries"

// The library serves snapshots by the sink's group; there is one for all here.
const group = "default"

// reporter tells of each answer that the library counts.
type reporter struct{}

func (reporter) Close() error { return nil }
func (reporter) RecordSendError(err error, code codes.Code) {
	sinkpeer.Report(map[string]interface{}{"event": "send-error", "error": err.Error(), "code": code.String()})
}
func (reporter) RecordRecvError(err error, code codes.Code) {
	sinkpeer.Report(map[string]interface{}{"event": "stream-end", "error": err.Error(), "code": code.String()})
}
func (reporter) RecordRequestSize(string, int64, int) {}
func (reporter) RecordRequestAck(collection string, _ int64) {
	sinkpeer.Report(map[string]interface{}{"event": "ack", "collection": collection})
}
func (reporter) RecordRequestNack(collection string, _ int64, code codes.Code) {
	sinkpeer.Report(map[string]interface{}{"event": "nack", "collection": collection, "code": code.String()})
}
func (reporter) SetStreamCount(count int64) {
	sinkpeer.Report(map[string]interface{}{"event": "streams", "count": count})
}
func (reporter) RecordStreamCreateSuccess() {
	sinkpeer.Report(map[string]interface{}{"event": "stream-open"})
}

// entry is a resource that Istio takes; no endpoint address makes it one that no sink may take.
func entry(name, address string, version int) *mcp.Resource {
	spec := &networking.ServiceEntry{
		Hosts:      []string{strings.ReplaceAll(name, "/", ".") + ".example.com"},
		Ports:      []*networking.Port{{Number: 80, Name: "http", Protocol: "HTTP"}},
		Location:   networking.ServiceEntry_MESH_INTERNAL,
		Resolution: networking.ServiceEntry_STATIC,
		Endpoints:  []*networking.ServiceEntry_Endpoint{{Address: address}},
	}
	body, err := types.MarshalAny(spec)
	if err != nil {
		sinkpeer.Fail(err)
	}
	created, err := types.TimestampProto(time.Unix(1700000000, 0))
	if err != nil {
		sinkpeer.Fail(err)
	}
	return &mcp.Resource{
		Metadata: &mcp.Metadata{Name: name, CreateTime: created, Version: strconv.Itoa(version)},
		Body:     body,
	}
}

// publish makes each line of standard input the next snapshot.
func publish(cache *snapshot.Cache) {
	versions := map[string]int{}
	known := map[string]string{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64*1024*1024)
	for number := 1; lines.Scan(); number++ {
		entries := map[string]string{}
		if err := json.Unmarshal(lines.Bytes(), &entries); err != nil {
			sinkpeer.Fail(err)
		}
		resources := []*mcp.Resource{}
		for name, address := range entries {
			if known[name] != address {
				versions[name] = number
				known[name] = address
			}
			resources = append(resources, entry(name, address, versions[name]))
		}
		builder := snapshot.NewInMemoryBuilder()
		builder.Set(serviceEntries, strconv.Itoa(number), resources)
		cache.SetSnapshot(group, builder.Build())
		sinkpeer.Report(map[string]interface{}{"event": "snapshot", "number": number, "resources": len(resources)})
	}
}

func main() {
	dial := flag.String("dial", "", "host:port of the ResourceSink to dial")
	address := flag.String("address", "", "host:port to listen on as a ResourceSource")
	incremental := flag.Bool("incremental", false, "push what changed, where the sink asks for it")
	flag.Parse()
	sinkpeer.QuietLog()
	cache := snapshot.New(func(string, *mcp.SinkNode) string { return group })
	options := &source.Options{
		Watcher:            cache,
		CollectionsOptions: []source.CollectionOptions{{Name: serviceEntries, Incremental: *incremental}},
		Reporter:           reporter{},
		ConnRateLimiter:    rate.NewRateLimiter(time.Millisecond, 1000),
	}
	switch {
	case *dial != "":
		connection, err := grpc.Dial(*dial, grpc.WithInsecure())
		if err != nil {
			sinkpeer.Fail(err)
		}
		go source.NewClient(mcp.NewResourceSinkClient(connection), options).Run(context.Background())
	case *address != "":
		listener, err := net.Listen("tcp", *address)
		if err != nil {
			sinkpeer.Fail(err)
		}
		grpcServer := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32))
		mcp.RegisterResourceSourceServer(grpcServer,
			source.NewServer(options, &source.ServerOptions{AuthChecker: server.NewAllowAllChecker()}))
		go func() { sinkpeer.Fail(grpcServer.Serve(listener)) }()
	default:
		sinkpeer.Fail(fmt.Errorf("name an address: -dial or -address"))
	}
	sinkpeer.Report(map[string]interface{}{"event": "started"})
	publish(cache)
	select {} // a source goes on with its last snapshot
}
