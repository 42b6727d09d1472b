package main

import (
	"bytes"
	"os"
	"testing"
)

func TestVectorsAreFresh(t *testing.T) {
	checkedIn, err := os.ReadFile("vectors.h")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(checkedIn, header()) {
		t.Error("vectors.h is not what this program writes: run `go run ./cuda/test/vectors > cuda/test/vectors/vectors.h`")
	}
}
