package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	v1beta1 "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type plugin struct {
	v1beta1.UnimplementedDevicePluginServer
	ctx     context.Context // ends with the server, which would wait for the kubelet's open stream otherwise
	devices *devices
}

func (p *plugin) GetDevicePluginOptions(context.Context, *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	return &v1beta1.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *v1beta1.Empty, stream grpc.ServerStreamingServer[v1beta1.ListAndWatchResponse]) error {
	for {
		list, changed := p.devices.list()
		if err := stream.Send(list); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		case <-p.ctx.Done():
			return nil
		}
	}
}

// Allocate tells a container which devices are its own, as NVIDIA's plugin does with the environment strategy.
func (p *plugin) Allocate(_ context.Context, r *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	out := &v1beta1.AllocateResponse{}
	for _, c := range r.ContainerRequests {
		slog.Info("Allocated", "devices", c.DevicesIds)
		out.ContainerResponses = append(out.ContainerResponses, &v1beta1.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(c.DevicesIds, ",")},
		})
	}
	return out, nil
}

// serve registers with the kubelet and returns when that has restarted, which removes the plugin's socket, or when the
// context ends.
func serve(ctx context.Context, folder, resource string, d *devices) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := strings.ReplaceAll(resource, "/", "_") + ".sock"
	socket := filepath.Join(folder, name)
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	v1beta1.RegisterDevicePluginServer(server, &plugin{ctx: ctx, devices: d})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer server.Stop()
	if err := register(ctx, filepath.Join(folder, "kubelet.sock"), name, resource); err != nil {
		return fmt.Errorf("register %s: %w", resource, err)
	}
	slog.Info("Registered", "resource", resource)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return err
		case <-time.After(time.Second):
		}
		if _, err := os.Stat(socket); err != nil {
			return errors.New("the kubelet has restarted")
		}
	}
}

func register(ctx context.Context, kubelet, endpoint, resource string) error {
	conn, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = v1beta1.NewRegistrationClient(conn).Register(ctx, &v1beta1.RegisterRequest{
		Version: v1beta1.Version, Endpoint: endpoint, ResourceName: resource,
	})
	return err
}
