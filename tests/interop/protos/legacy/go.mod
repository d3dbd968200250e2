module pinnace/protos/legacy

go 1.26

require (
	github.com/gogo/protobuf v1.3.0
	istio.io/api v0.0.0-20200513175333-ae3da0d240e3
)

require (
	github.com/golang/protobuf v1.3.2 // indirect
	golang.org/x/net v0.0.0-20191004110552-13f9640d40b9 // indirect
	golang.org/x/sys v0.0.0-20190826190057-c7b8b68b1456 // indirect
	golang.org/x/text v0.3.2 // indirect
	google.golang.org/genproto v0.0.0-20180817151627-c66870c02cf8 // indirect
	google.golang.org/grpc v1.23.1 // indirect
	istio.io/gogo-genproto v0.0.0-20190930162913-45029607206a // indirect
)
