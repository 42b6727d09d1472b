//go:build !nostores

package app

// The object stores' libraries are large; built with -tags nostores, cuzk knows files and https only.
import _ "github.com/cuzk-dev/cuzk/prover/source/blob"
