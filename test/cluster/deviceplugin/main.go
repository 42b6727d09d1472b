// Command deviceplugin announces nvidia.com/gpu to the kubelet on machines without a GPU, so that scheduling and
// allocation of GPUs are real in tests. A container gets NVIDIA_VISIBLE_DEVICES and nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	v1beta1 "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

func main() {
	resource := flag.String("resource", "nvidia.com/gpu", "name of the resource")
	count := flag.Int("count", envCount(), "number of devices (environment: GPU_COUNT)")
	countFile := flag.String("count-file", "", "file with the number of devices, read every second: devices that a smaller number leaves out turn unhealthy")
	folder := flag.String("folder", v1beta1.DevicePluginPath, "the kubelet's folder of sockets")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	devices := newDevices(*count)
	if *countFile != "" {
		go devices.follow(ctx, *countFile)
	}
	for ctx.Err() == nil {
		if err := serve(ctx, *folder, *resource, devices); err != nil {
			slog.Error("Stopped serving", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func envCount() int {
	n := 0
	if v := os.Getenv("GPU_COUNT"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			slog.Error("GPU_COUNT is no number", "value", v)
			os.Exit(2)
		}
	}
	return n
}
