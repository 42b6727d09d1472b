package controllers

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Every metric of the manager's own is on the page that lists them.
func TestMetricsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		metrics.Registry.(prometheus.Collector).Describe(described)
	}()
	name, count := regexp.MustCompile(`fqName: "(cuzk_[a-z_]+)"`), 0
	for d := range described {
		m := name.FindStringSubmatch(d.String())
		if m == nil {
			continue
		}
		count++
		if !strings.Contains(string(page), "| `"+m[1]+"` |") {
			t.Errorf("%s is not in docs/reference/metrics.md", m[1])
		}
	}
	if count < 11 {
		t.Errorf("only %d metrics found", count)
	}
}
