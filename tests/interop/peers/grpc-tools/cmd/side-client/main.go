// Asks a server what grpc-go's clients ask: its descriptors, by reflection, and its health, by Watch.
// Each object on standard output is one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: side-client descriptors ADDRESS [SYMBOL...] | watch ADDRESS [SERVICE]")
	}
	conn, err := grpc.NewClient(args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx := context.Background()
	if args[0] == "descriptors" {
		return descriptors(ctx, conn, args[2:])
	}
	service := ""
	if len(args) > 2 {
		service = args[2]
	}
	return watch(ctx, conn, service)
}

// watch prints each status until the stream ends.
func watch(ctx context.Context, conn *grpc.ClientConn, service string) error {
	stream, err := healthpb.NewHealthClient(conn).Watch(ctx, &healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		return err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return print(map[string]string{"event": "end", "error": err.Error()})
		}
		if err := print(map[string]string{"event": "status", "status": response.Status.String()}); err != nil {
			return err
		}
	}
}

func print(object any) error {
	return json.NewEncoder(os.Stdout).Encode(object)
}
