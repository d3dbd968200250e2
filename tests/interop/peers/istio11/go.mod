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
	istio.io/api v0.0.0-20190321202740-db16d82d3672
	istio.io/istio v0.0.0-20190322063008-2b1331886076
)
