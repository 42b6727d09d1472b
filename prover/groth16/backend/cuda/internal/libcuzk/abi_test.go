//go:build linux && (amd64 || arm64) && !nocuda

package libcuzk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The structs are what a C compiler makes of the header: same size, same fields at the same offsets.
func TestStructsAreThoseOfTheHeader(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	structs := []struct {
		name   string
		fields string
		ours   any
	}{
		{"cuzk_error", "code reserved asked free message", cError{}},
		{"cuzk_device_info", "size device name uuid compute_major compute_minor driver_version runtime_version memory multiprocessors " +
			"pci_domain pci_bus pci_device native reserved architectures", cDeviceInfo{}},
		{"cuzk_engine_options", "size device device_limit scratch_limit lanes copy_threads", cEngineOptions{}},
		{"cuzk_engine_info", "size device lanes lanes_free keys structures device_bytes open_ms prepare_ms", cEngineInfo{}},
		{"cuzk_section", "points count absent absent_words", cSection{}},
		{"cuzk_key_source", "size curve layout reserved wires public_inputs domain alpha_g1 beta_g1 delta_g1 beta_g2 delta_g2 section " +
			"committed committed_count device_budget host_budget cancel read read_context", cKeySource{}},
		{"cuzk_key_info", "size curve layout streamed wires public_inputs domain device_bytes host_bytes proof_device_bytes scratch_bytes", cKeyInfo{}},
		{"cuzk_matrix", "start wire coefficient entries", cMatrix{}},
		{"cuzk_structure_source", "size curve wires public_inputs constraints a b c coefficients coefficient_count cancel", cStructureSource{}},
		{"cuzk_proof_options", "size bits structure constraints witness", cProofOptions{}},
		{"cuzk_proof_result", "size curve a b c", cProofResult{}},
		{"cuzk_proof_timings", "size reserved upload evaluate prep_msm ntt ntt_msm_h batch_add b_g2_msm tail_msm wait gpu_total wall", cProofTimings{}},
	}
	source := "#include <stddef.h>\n#include <stdio.h>\n#include \"cuzk.h\"\nint main(void) {\n"
	var ours strings.Builder
	for _, s := range structs {
		typ := reflect.TypeOf(s.ours)
		fields := strings.Fields(s.fields)
		if typ.NumField() != len(fields) {
			t.Fatalf("%s has %d fields here, %d in this test", s.name, typ.NumField(), len(fields))
		}
		source += fmt.Sprintf("printf(\"%s %%zu\\n\", sizeof(%s));\n", s.name, s.name)
		fmt.Fprintf(&ours, "%s %d\n", s.name, typ.Size())
		for i, field := range fields {
			source += fmt.Sprintf("printf(\"%s.%s %%zu\\n\", offsetof(%s, %s));\n", s.name, field, s.name, field)
			fmt.Fprintf(&ours, "%s.%s %d\n", s.name, field, typ.Field(i).Offset)
		}
	}
	source += "printf(\"version %d\\n\", CUZK_ABI_VERSION);\nreturn 0; }\n"
	fmt.Fprintf(&ours, "version %d\n", abiVersion)

	dir := t.TempDir()
	path, program := filepath.Join(dir, "abi.c"), filepath.Join(dir, "abi")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	include := filepath.Join("..", "..", "..", "..", "..", "..", "cuda", "include")
	if out, err := exec.Command(compiler, "-I", include, "-o", program, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	theirs, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(theirs), ours.String()); diff != "" {
		t.Errorf("(-cuzk.h +Go)\n%s", diff)
	}
}

// A library that needs a newer C library says which.
func TestOpenTellsTheGlibcThatIsNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "newer.so")
	if err := os.WriteFile(path+".c", []byte("#include <string.h>\nvoid copy(void *to, void *from, int n) { memcpy(to, from, n); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O0", "-o", path, path+".c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	library, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(library, []byte("GLIBC_2."), []byte("GLIBC_9.")), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Env, path)
	var unusable *UnusableError
	if _, err := Open(); !errors.As(err, &unusable) || !strings.HasPrefix(unusable.Glibc, "9.") {
		t.Errorf("got %v", err)
	}
}

// A library that is none, or of another version, is refused with the reason.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	build := func(name, source string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".c", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, path+".c").CombinedOutput(); err != nil {
			t.Skipf("cc: %v\n%s", err, out)
		}
		return path
	}
	if err := os.WriteFile(filepath.Join(dir, "text.so"), []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, want string }{
		{filepath.Join(dir, "absent.so"), "No such file"},
		{filepath.Join(dir, "text.so"), "too short"},
		{build("other.so", "int other;"), "it has no function cuzk_abi_version"},
		{build("newer.so", "int cuzk_abi_version(void) { return 99; }"), "its interface has version 99, this cuzk needs version 3"},
		{build("part.so", "int cuzk_abi_version(void) { return 3; }"), "it has no function cuzk_"},
	} {
		t.Run(filepath.Base(test.path), func(t *testing.T) {
			t.Setenv(Env, test.path)
			_, err := Open()
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), Env) {
				t.Errorf("got %v, want %q and the variable's name", err, test.want)
			}
		})
	}
}
