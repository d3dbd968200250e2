module pinnace.example/interop/istio11

go 1.26.0

replace github.com/golang/glog => github.com/istio/glog v0.0.0-20190424172949-d7cfb6fa2ccd

require (
	github.com/gogo/googleapis v1.1.0
	github.com/gogo/protobuf v1.1.1
	github.com/gogo/status v1.0.3
	github.com/natefinch/lumberjack v2.0.0+incompatible
	go.opencensus.io v0.18.0
	go.uber.org/zap v1.9.1
	google.golang.org/grpc v1.18.0
	istio.io/api v0.0.0-20190408162927-e9ab8d6a54a6
	istio.io/istio v0.0.0-20190322063008-2b1331886076
)

require (
	github.com/golang/protobuf v1.2.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/net v0.0.0-20180906233101-161cd47e91fd // indirect
	golang.org/x/sys v0.0.0-20180909124046-d0be0721c37e // indirect
	golang.org/x/text v0.3.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	google.golang.org/genproto v0.0.0-20180831171423-11092d34479b // indirect
)
