//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// auditEvent is what the tests read of the API server's audit log.
type auditEvent struct {
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	User      struct{ Username string }
	ObjectRef struct{ Resource, Subresource, Namespace, Name, APIGroup string }
	// When the request came.
	RequestReceivedTimestamp time.Time
	ResponseStatus           struct{ Code int }
}

// managerWrites are the writes of the manager since a time, but for leases and events.
func managerWrites(t *testing.T, since time.Time, keep func(auditEvent) bool) []auditEvent {
	t.Helper()
	path := os.Getenv("CUZK_CLUSTER_AUDIT_LOG")
	if path == "" {
		t.Skip("the audit log is there in a cluster of test/cluster only")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []auditEvent
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e auditEvent
		if json.Unmarshal(lines.Bytes(), &e) != nil { // the last line may be half written
			continue
		}
		reads := e.Verb == "get" || e.Verb == "list" || e.Verb == "watch"
		if e.Stage != "ResponseComplete" || reads || e.RequestReceivedTimestamp.Before(since) ||
			!strings.HasPrefix(e.User.Username, "system:serviceaccount:"+systemNamespace+":") ||
			e.ObjectRef.Resource == "leases" || e.ObjectRef.Resource == "events" ||
			strings.HasSuffix(e.ObjectRef.Resource, "reviews") || !keep(e) {
			continue
		}
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// A job costs at most 6 + partitions/32 writes of the operator: of the job's status and of its child.
func TestWritesOfAJob(t *testing.T) {
	ns := namespace(t)
	start := time.Now()
	create(t, newJob(ns, "first", []string{"alice"})) // makes the namespace's ServiceAccount, Role and RoleBinding
	until(t, ns, "first", "ends", finished)
	create(t, newJob(ns, "counted", []string{"alice", "bob", "carol"}, parallelism(3)))
	job := until(t, ns, "counted", "ends", finished)
	if job.Status.State != v1alpha1.ProofJobSucceeded {
		t.Fatalf("got %s", sketch(job))
	}
	writes := managerWrites(t, start, func(e auditEvent) bool { return e.ObjectRef.Namespace == ns && e.ObjectRef.Name == "counted" })
	if n := len(writes); n == 0 || n > 6 {
		t.Errorf("the operator wrote %d times, want 1 to 6:", n)
		for _, w := range writes {
			t.Logf("%s %s %s/%s: %d", w.RequestReceivedTimestamp.Format("05.000"), w.Verb, w.ObjectRef.Resource, w.ObjectRef.Subresource, w.ResponseStatus.Code)
		}
	}
}

// With finished jobs only, the operator writes nothing for a minute; a restart changes nothing about that.
func TestQuietMinute(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "done", []string{"alice", "bob"}, parallelism(2)))
	before := until(t, ns, "done", "ends", finished)
	killManagers(t)
	start := time.Now()
	time.Sleep(time.Minute) //nolint:forbidigo // the promise is about a minute
	writes := managerWrites(t, start, func(e auditEvent) bool { return e.ObjectRef.Namespace == ns })
	for _, w := range writes {
		t.Errorf("%s %s %s/%s", w.Verb, w.ObjectRef.Resource, w.ObjectRef.Subresource, w.ObjectRef.Name)
	}
	if after := get(t, ns, "done", &v1alpha1.ProofJob{}); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the finished job was written: resourceVersion %s, then %s", before.ResourceVersion, after.ResourceVersion)
	}
}
