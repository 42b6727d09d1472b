package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// paramsCheck checks parameter files of the published shapes.
type paramsCheck struct {
	app         *app
	dir         paramsDir
	unpublished bool
	again       bool
	points      bool
	progress    *display
}

// checkedJSON is a file of `cuzk params check --output json`.
type checkedJSON struct {
	File    string `json:"file"`
	Circuit string `json:"circuit"`
	Sector  uint64 `json:"sectorSize"`
	Digest  string `json:"digest"`
	// Published tells that it is the file of the trusted set-up.
	Published bool `json:"published"`
	// Points tells that every point was looked at.
	Points bool `json:"points"`
}

func (a *app) paramsCheckCommand() *cobra.Command {
	c := &paramsCheck{app: a}
	cmd := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Check parameter files: length, structure, digest",
		Long: `Check parameter files (.params and .vk): that they have the lengths that their circuit needs, that their verifying
keys and notes (.meta) agree, and that their digest (BLAKE2b, 128 bits) is that of the published file. Without arguments, all published
parameters that are in the folder are checked. Files are known by their names.

Digests are remembered by size and time of modification; --again reads the files again. A file whose digest is wrong
is searched for the first point that is not on the curve or not in the subgroup, which is named. --points looks at every
point in any case, which takes minutes to hours for large files.

--unpublished accepts files that have another digest, as generated ones have, if all their points are good.`,
		Example: `  cuzk params check
  cuzk params check /data/v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-0377….params
  cuzk params check --params-dir test-params --unpublished`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	c.dir.register(f)
	f.BoolVar(&c.unpublished, "unpublished", false, "accept files other than the published ones, if every point is good")
	f.BoolVar(&c.again, "again", false, "do not believe a remembered digest")
	f.BoolVar(&c.points, "points", false, "look at every point")
	return cmd
}

func (c *paramsCheck) run(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		paths = c.present()
	}
	if len(paths) == 0 {
		return failure.New(failure.Usage, "there are no published parameters in %s", c.dir.folder()).WithFix("name the folder with --params-dir, or files")
	}
	c.progress = c.app.progress()
	defer c.progress.clear()
	var checked []checkedJSON
	for _, path := range paths {
		result, err := c.file(ctx, path)
		c.progress.clear()
		if err != nil {
			return interruptedBy(ctx, failure.InFile(err, path))
		}
		checked = append(checked, *result)
		if c.app.flags.output == outputText {
			if err := c.app.print("OK: %s (%s)\n", path, result.summary()); err != nil {
				return err
			}
		}
	}
	if c.app.flags.output == outputJSON {
		return c.app.printJSON(checked)
	}
	return nil
}

func (r *checkedJSON) summary() string {
	s := fmt.Sprintf("%s %s, digest %s", r.Circuit, filecoin.SectorSize(r.Sector), r.Digest)
	if !r.Published {
		s += ", not the published file"
	}
	if r.Points {
		s += ", all points good"
	}
	return s
}

// present lists the files of published parameters in the folder.
func (c *paramsCheck) present() (paths []string) {
	for _, p := range filecoin.PublishedParameters {
		for _, ext := range []string{extParams, extVK} {
			path := c.dir.file(p.Circuit.Shape(p.Sector), ext)
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// file checks one file.
func (c *paramsCheck) file(ctx context.Context, path string) (*checkedJSON, error) {
	p, ext, err := publishedOf(path)
	if err != nil {
		return nil, err
	}
	check, want := c.params, p.Params
	if ext == extVK {
		check, want = c.vk, p.VK
	}
	points, err := check(p, path)
	if err != nil {
		return nil, err
	}
	digest, err := c.digest(ctx, path)
	if err != nil {
		return nil, err
	}
	result := &checkedJSON{File: path, Circuit: p.Circuit.String(), Sector: uint64(p.Sector), Digest: digest, Published: digest == want}
	if result.Published && !c.points {
		return result, nil
	}
	if err := points(ctx); err != nil {
		return nil, err
	}
	result.Points = true
	if !result.Published && !c.unpublished {
		return nil, failure.New(failure.Key, "the digest is %s, that of the published file %s; all points are good", digest, want).
			WithFix("fetch the file again; if it was generated on purpose, use --unpublished")
	}
	return result, nil
}

// publishedOf finds the circuit to which a file belongs by its name.
func publishedOf(path string) (filecoin.Published, string, error) {
	base := filepath.Base(path)
	ext := filepath.Ext(base)
	if ext != extParams && ext != extVK {
		return filecoin.Published{}, "", failure.New(failure.Usage, "is no parameter file: its name ends neither in %s nor in %s", extParams, extVK)
	}
	p, ok := publishedNamed(strings.TrimSuffix(base, ext))
	if !ok {
		return p, "", failure.New(failure.Usage, "has the name of no published parameter file").WithFix("name it as cuzk params derive-name tells")
	}
	return p, ext, nil
}

// publishedNamed finds published parameters by their name.
func publishedNamed(name string) (filecoin.Published, bool) {
	for _, p := range filecoin.PublishedParameters {
		if p.Circuit.Shape(p.Sector).ParameterName() == name {
			return p, true
		}
	}
	return filecoin.Published{}, false
}

// params checks lengths and verifying key of a .params, and returns the check of its points.
func (c *paramsCheck) params(p filecoin.Published, path string) (func(context.Context) error, error) {
	f, err := filparams.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.CheckLengths(p.Lengths); err != nil {
		return nil, err
	}
	vkPath := strings.TrimSuffix(path, extParams) + extVK
	vk, err := filparams.OpenVerifyingKey(vkPath)
	switch {
	case errors.Is(err, fs.ErrNotExist): // there is none beside it
	case err != nil:
		return nil, err
	case !vk.SameStatement(f.VerifyingKey()):
		return nil, failure.New(failure.Key, "the verifying key in it is not that of %s", vkPath)
	}
	if err := checkMeta(strings.TrimSuffix(path, extParams)+extMeta, p.Sector); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return c.checkPoints(ctx, path) }, nil
}

// checkMeta compares the note beside a .params, where there is one.
func checkMeta(path string, want filecoin.SectorSize) error {
	m, err := filparams.OpenMeta(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case m.SectorSize != want:
		return failure.New(failure.Key, "is for sectors of %s, the parameters beside it are for %s", m.SectorSize, want).In(path)
	}
	return nil
}

func (c *paramsCheck) checkPoints(ctx context.Context, path string) error {
	f, err := filparams.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Check(ctx, c.progress.work("points"))
}

// vk checks a .vk, whose points are all checked when it is opened.
func (c *paramsCheck) vk(p filecoin.Published, path string) (func(context.Context) error, error) {
	vk, err := filparams.OpenVerifyingKey(path)
	if err != nil {
		return nil, err
	}
	if err := filparams.CheckPublic(vk, p.Lengths.IC-1); err != nil {
		return nil, err
	}
	if _, err := groth16.NewVerifier(vk, ""); err != nil {
		return nil, err
	}
	return func(context.Context) error { return nil }, nil
}

func (c *paramsCheck) digest(ctx context.Context, path string) (string, error) {
	var cache *filparams.DigestCache
	if dir := c.app.privateFolder("digests"); dir != "" && !c.again {
		cache = filparams.NewDigestCache(dir)
	}
	return filparams.Digest(ctx, path, cache, c.progress.work("digest"))
}
