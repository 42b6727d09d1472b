// Command cuzk makes, verifies and inspects Groth16 proofs.
package main

import "github.com/cuzk-dev/cuzk/cmd/cuzk/app"

// Set by the linker.
var version, commit string

func main() { app.Main(app.Build{Version: version, Commit: commit}) }
