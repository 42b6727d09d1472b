package main

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaults(t *testing.T) {
	var o options
	f := flag.NewFlagSet("manager", flag.ContinueOnError)
	o.bind(f)
	if err := f.Parse([]string{"--prover-image=a", "--namespaces= x, y,"}); err != nil {
		t.Fatal(err)
	}
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	if o.proverCUDAImage != "a" {
		t.Errorf("CUDA image %q without one of its own", o.proverCUDAImage)
	}
	if diff := cmp.Diff([]string{"x", "y"}, o.namespaceList()); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	if got := [...]string{o.leaseDuration.String(), o.renewDeadline.String(), o.retryTime.String()}; got != [...]string{"1m0s", "40s", "5s"} {
		t.Errorf("leader election %v", got)
	}
}
