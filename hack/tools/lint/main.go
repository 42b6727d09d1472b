// Command lint is golangci-lint with the two linters of the Kubernetes project compiled in that it does not carry itself:
// kube-api-linter for api/ and logcheck for structured logging. It is a tool of this repository (golangci-lint is
// GPL-3.0) and is part of nothing that is shipped.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"
	_ "sigs.k8s.io/kube-api-linter"
	_ "sigs.k8s.io/logtools/logcheck/gclplugin"
)

func main() {
	if err := commands.Execute(buildInfo()); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(exitcodes.Failure)
	}
}

// buildInfo reports the version of golangci-lint itself, which is what the configuration's schema depends on.
func buildInfo() commands.BuildInfo {
	info := commands.BuildInfo{Version: "unknown", Commit: "unknown", Date: "unknown", GoVersion: "unknown"}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	info.GoVersion = build.GoVersion
	for _, dep := range build.Deps {
		if dep.Path == "github.com/golangci/golangci-lint/v2" {
			info.Version, info.Commit = strings.TrimPrefix(dep.Version, "v"), dep.Sum
		}
	}
	return info
}
