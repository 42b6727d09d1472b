//go:build linux

package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
)

// apiClient asks the API server for the little that a starting node must know.
type apiClient struct {
	http *http.Client
	url  string
}

func newAPIClient(n layout.Node) (*apiClient, error) {
	pem, err := os.ReadFile(n.Cluster.PKI("ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("ca.crt holds no certificate")
	}
	cert, err := tls.LoadX509KeyPair(n.Cluster.PKI("admin.crt"), n.Cluster.PKI("admin.key"))
	if err != nil {
		return nil, err
	}
	return &apiClient{
		http: &http.Client{Transport: &http.Transport{
			Proxy:           nil, // the server is in this network namespace only
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}},
		}},
		url: n.Cluster.APIServer(),
	}, nil
}

func (c *apiClient) get(ctx context.Context, path string) ([]byte, error) {
	return get(ctx, c.http, c.url+path)
}

// nodeReady returns nil if the node has the condition Ready and its kubelet has renewed the lease since the given time:
// a node that comes back may still be Ready from its earlier life.
func (c *apiClient) nodeReady(ctx context.Context, name string, since time.Time) error {
	body, err := c.get(ctx, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+name)
	if err != nil {
		return err
	}
	var lease struct{ Spec struct{ RenewTime time.Time } }
	if err := json.Unmarshal(body, &lease); err != nil {
		return fmt.Errorf("lease of node %s: %w", name, err)
	}
	if lease.Spec.RenewTime.Before(since) {
		return fmt.Errorf("node %s was last heard of at %s", name, lease.Spec.RenewTime)
	}
	if body, err = c.get(ctx, "/api/v1/nodes/"+name); err != nil {
		return err
	}
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &node); err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	for _, cond := range node.Status.Conditions {
		if cond.Type != "Ready" {
			continue
		}
		if cond.Status == "True" {
			return nil
		}
		return fmt.Errorf("condition Ready of node %s is %s: %s", name, cond.Status, cond.Message)
	}
	return fmt.Errorf("node %s has no condition Ready yet", name)
}
