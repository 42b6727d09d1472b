// Command mkimg makes a container image from files, without a container engine or a registry.
//
//	mkimg -o app.tar -t example.org/app:dev -user 65532:65532 -entrypoint /app bin/app=/app
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/image"
)

const synopsis = `usage: mkimg -o FILE -t NAME:TAG [flags] SOURCE=/PATH [SOURCE=/PATH ...]
Writes a docker-archive for "docker load", "ctr images import" or "kind load image-archive". SOURCE is a file, or a
folder with all that is in it; "TARGET->/PATH" is a symbolic link. Equal input gives equal bytes.
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("mkimg", flag.ContinueOnError)
	flags.Usage = func() { _, _ = io.WriteString(flags.Output(), synopsis); flags.PrintDefaults() }
	var img image.Image
	out := flags.String("o", "", "file to write")
	flags.Var((*list)(&img.Tags), "t", "name:tag (repeatable)")
	flags.Var((*list)(&img.Entrypoint), "entrypoint", "one word of the entrypoint (repeatable)")
	flags.Var((*list)(&img.Cmd), "cmd", "one word of the default arguments (repeatable)")
	flags.Var((*list)(&img.Env), "env", "KEY=value (repeatable)")
	flags.StringVar(&img.User, "user", "", "user[:group], by number where the kubelet must see that it is not root")
	flags.StringVar(&img.WorkingDir, "workdir", "", "working folder")
	users := flags.Bool("users", false, "add /tmp and /etc/passwd and /etc/group with root and nonroot (65532)")
	libraries := flags.Bool("libraries", false, "add the shared libraries that the programs need, from this machine")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *out == "" || flags.NArg() == 0 {
		flags.Usage()
		return fmt.Errorf("-o and at least one SOURCE=/PATH are needed")
	}
	if *users {
		if err := img.AddUsers(); err != nil {
			return err
		}
	}
	for _, arg := range flags.Args() {
		if target, dst, ok := strings.Cut(arg, "->"); ok {
			if err := img.AddLink(dst, target); err != nil {
				return err
			}
			continue
		}
		source, dst, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: want SOURCE=/PATH", arg)
		}
		if err := img.Add(source, dst); err != nil {
			return err
		}
	}
	if *libraries {
		if err := img.AddSharedLibraries(); err != nil {
			return err
		}
	}
	return img.WriteFile(*out)
}

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }
