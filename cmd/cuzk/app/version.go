package app

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionJSON is what `cuzk version --output json` prints.
type versionJSON struct {
	Version     string `json:"version"`
	Commit      string `json:"commit,omitempty"`
	Go          string `json:"go"`
	Platform    string `json:"platform"`
	Gnark       string `json:"gnark,omitempty"`
	GnarkCrypto string `json:"gnarkCrypto,omitempty"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of cuzk and of the libraries that decide about formats",
		Example: "  cuzk version\n  cuzk version --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := a.version()
			if a.flags.output == outputJSON {
				return a.printJSON(v)
			}
			return a.print("cuzk %s (commit %s, %s, %s)\ngnark %s, gnark-crypto %s\n", v.Version, orNone(v.Commit), v.Go, v.Platform,
				orNone(v.Gnark), orNone(v.GnarkCrypto))
		},
	}
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func (a *app) version() versionJSON {
	v := versionJSON{Version: a.build.Version, Commit: a.build.Commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, d := range info.Deps {
			switch d.Path {
			case "github.com/consensys/gnark":
				v.Gnark = d.Version
			case "github.com/consensys/gnark-crypto":
				v.GnarkCrypto = d.Version
			}
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && v.Commit == "" {
				v.Commit = s.Value
			}
		}
	}
	if v.Version == "" {
		v.Version = "dev"
	}
	return v
}
