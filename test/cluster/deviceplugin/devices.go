package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	v1beta1 "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// devices is the node's set of devices. The first healthy ones of known work; a device that was once announced stays
// known, as a broken GPU stays in its slot.
type devices struct {
	mu             sync.Mutex
	healthy, known int
	changed        chan struct{} // closed at the next change
}

func newDevices(n int) *devices {
	return &devices{healthy: n, known: n, changed: make(chan struct{})}
}

func (d *devices) set(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n == d.healthy {
		return
	}
	slog.Info("Number of healthy devices changed", "from", d.healthy, "to", n)
	d.healthy, d.known = n, max(n, d.known)
	close(d.changed)
	d.changed = make(chan struct{})
}

// list returns the devices and what is closed when they change.
func (d *devices) list() (*v1beta1.ListAndWatchResponse, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &v1beta1.ListAndWatchResponse{}
	for i := range d.known {
		health := v1beta1.Healthy
		if i >= d.healthy {
			health = v1beta1.Unhealthy
		}
		r.Devices = append(r.Devices, &v1beta1.Device{ID: fmt.Sprintf("GPU-%d", i), Health: health})
	}
	return r, d.changed
}

// follow takes the number of healthy devices from a file until the context ends.
func (d *devices) follow(ctx context.Context, file string) {
	for {
		b, err := os.ReadFile(file)
		if err == nil {
			var n int
			if n, err = strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n >= 0 {
				d.set(n)
			}
		}
		if err != nil {
			slog.Error("Could not read the number of devices", "file", file, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}
