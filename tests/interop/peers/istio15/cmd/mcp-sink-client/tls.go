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

// tlsFlags name the files of TLS towards the source.
type tlsFlags struct{ ca, cert, key *string }

func newTLSFlags() tlsFlags {
	return tlsFlags{
		ca:   flag.String("ca", "", "PEM file with the CA of the source; none: plaintext"),
		cert: flag.String("cert", "", "PEM file with our certificate; none is shown otherwise"),
		key:  flag.String("key", "", "PEM file with its key"),
	}
}

func (f tlsFlags) dialOption() grpc.DialOption {
	if *f.ca == "" {
		return grpc.WithInsecure()
	}
	config, err := f.read()
	if err != nil {
		sinkpeer.Fail(err)
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(config))
}

func (f tlsFlags) read() (*tls.Config, error) {
	text, err := os.ReadFile(*f.ca)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", *f.ca)
	}
	if *f.cert == "" {
		return config, nil
	}
	pair, err := tls.LoadX509KeyPair(*f.cert, *f.key)
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
