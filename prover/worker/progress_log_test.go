package worker

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cuzk-dev/cuzk/prover/stage"
)

// A stage of a pod is logged every ten seconds, from its tenth on.
func TestStagesAreLogged(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	clock := clocktesting.NewFakeClock(time.Unix(1_000_000, 0))
	r := newReporter(&applier{log: log, clock: clock}, time.Second)
	r.Progress(stage.SRS, 1, 2) // before any stage
	r.index = 3
	r.Begin(stage.SRS)
	for second := range int64(25) {
		r.Progress(stage.SRS, 1000*second, 47_000)
		clock.Step(time.Second)
	}
	r.Begin(stage.GPU)
	r.Progress(stage.GPU, 1, 1)
	want := []string{
		`"partition"=3 "stage"="srs" "percent"=21 "done"=10000 "of"=47000`,
		`"partition"=3 "stage"="srs" "percent"=42 "done"=20000 "of"=47000`,
	}
	for i := range lines {
		_, lines[i], _ = strings.Cut(lines[i], `"msg"="Did part of a stage" `)
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}
