package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"pinnace.example/interop/istio15/internal/sinkpeer"
)

// tlsFlags name the files of TLS; each is read again at every handshake, so that they can be rotated.
type tlsFlags struct{ cert, key, clientCA *string }

func newTLSFlags() tlsFlags {
	return tlsFlags{
		cert:     flag.String("cert", "", "PEM file with the server's certificate; none: plaintext"),
		key:      flag.String("key", "", "PEM file with its key"),
		clientCA: flag.String("client-ca", "", "PEM file with the CA of client certificates; none: they are not asked for"),
	}
}

func (f tlsFlags) serverOptions() []grpc.ServerOption {
	if *f.cert == "" {
		return nil
	}
	config := &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		current, err := f.read()
		if err != nil {
			sinkpeer.Report(map[string]interface{}{"event": "tls-error", "error": err.Error()})
		}
		return current, err
	}}
	return []grpc.ServerOption{grpc.Creds(credentials.NewTLS(config))}
}

func (f tlsFlags) read() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(*f.cert, *f.key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	if *f.clientCA == "" {
		return config, nil
	}
	text, err := os.ReadFile(*f.clientCA)
	if err != nil {
		return nil, err
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", *f.clientCA)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}
