// Package docs tests what the documentation says against what it is about.
package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// root is the repository.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}()

// pages reads every Markdown page of the repository, by path below it.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "bin" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found["README.md"] == "" {
		t.Fatalf("no README.md below %s", root)
	}
	return found
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	for name, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: link to %s: %v", name, m[1], err)
			}
		}
	}
}

// Each page is reached from the index of the documentation or from the front page.
func TestPagesAreListed(t *testing.T) {
	all := pages(t)
	listed := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if listed[name] {
			return
		}
		listed[name] = true
		for _, m := range link.FindAllStringSubmatch(all[name], -1) {
			if target := filepath.Join(filepath.Dir(name), filepath.FromSlash(m[1])); all[target] != "" {
				visit(target)
			}
		}
	}
	visit("README.md")
	for name := range all {
		if strings.HasPrefix(name, "docs"+string(filepath.Separator)) && !listed[name] {
			t.Errorf("%s is reached by no link from README.md", name)
		}
	}
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// Objects of ours in the documentation have only fields that exist. Whether they are valid is the API server's to say.
func TestExamplesHaveKnownFields(t *testing.T) {
	count := 0
	for name, text := range pages(t) {
		for _, block := range yamlBlock.FindAllStringSubmatch(text, -1) {
			for doc := range strings.SplitSeq(block[1], "\n---\n") {
				var into any
				switch {
				case !strings.Contains(doc, "apiVersion: "+api.GroupVersion.String()):
					continue
				case strings.Contains(doc, "\nkind: ProofJob\n"):
					into = &api.ProofJob{}
				case strings.Contains(doc, "\nkind: ProvingKey\n"):
					into = &api.ProvingKey{}
				default:
					t.Errorf("%s: an object of %s of unknown kind:\n%s", name, api.GroupVersion, doc)
					continue
				}
				if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
					t.Errorf("%s: %v in\n%s", name, err, doc)
				}
				count++
			}
		}
	}
	if count < 5 {
		t.Errorf("%d examples found; the pattern that finds them does not fit any more", count)
	}
}

var metricName = regexp.MustCompile(`(?:Name:\s+|NewDesc\()"(cuzk_[a-z_]+)"`)

func TestMetricsPageIsComplete(t *testing.T) {
	var declared []string
	err := filepath.WalkDir(filepath.Join(root, "controllers"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range metricName.FindAllSubmatch(content, -1) {
			declared = append(declared, string(m[1]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(cuzk_[a-z_]+)` \\|").FindAllStringSubmatch(pages(t)["docs/reference/metrics.md"], -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(declared)
	slices.Sort(documented)
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("metrics (-declared +documented):\n%s", diff)
	}
}

// Alerts and pages ask only for metrics that there are.
func TestAlertsAskForWhatIsThere(t *testing.T) {
	text := pages(t)
	page := text["docs/reference/metrics.md"]
	raw, err := os.ReadFile(filepath.Join(root, "config", "prometheus", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{"config/prometheus/alerts.yaml": string(raw)}
	for name, content := range text {
		if strings.HasPrefix(name, filepath.Join("docs", "runbook")) || name == "docs/reference/metrics.md" {
			asked[name] = content
		}
	}
	count := 0
	for name, content := range asked {
		for _, metric := range regexp.MustCompile(`cuzk_[a-z_]+`).FindAllString(content, -1) {
			count++
			metric = strings.TrimSuffix(metric, "_bucket")
			if !strings.Contains(page, "| `"+metric+"` |") {
				t.Errorf("%s: metric %s is not in docs/reference/metrics.md", name, metric)
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d metrics found", count)
	}
}

func TestExitCodesPageIsComplete(t *testing.T) {
	page := []byte(pages(t)["docs/reference/exit-codes.md"])
	for class, code := range map[failure.Class]string{
		failure.Internal: "1", failure.Usage: "2", failure.Input: "3", failure.Key: "4", failure.Verification: "5",
		failure.Backend: "6", failure.IO: "7", failure.Memory: "8", failure.Interrupted: "143",
	} {
		if want := "| " + code + " | `" + string(class) + "` |"; !bytes.Contains(page, []byte(want)) {
			t.Errorf("docs/reference/exit-codes.md has no row %q", want)
		}
	}
}
