//go:build linux && (amd64 || arm64) && !nocuda

package libcuzk

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// abiVersion is CUZK_ABI_VERSION.
const abiVersion = 3

// The structs of cuzk.h, field by field; a test compares sizes and offsets with what a C compiler makes of the header.
//
//nolint:unused // fields that only the library reads or writes
type (
	cError struct {
		code     int32
		reserved uint32
		asked    uint64
		free     uint64
		message  [512]byte
	}
	cDeviceInfo struct {
		size            uint32
		device          int32
		name            [256]byte
		uuid            [16]byte
		computeMajor    int32
		computeMinor    int32
		driverVersion   int32
		runtimeVersion  int32
		memory          uint64
		multiprocessors int32
		pciDomain       int32
		pciBus          int32
		pciDevice       int32
		native          int32
		reserved        int32
		architectures   [128]byte
	}
	cEngineOptions struct {
		size         uint32
		device       int32
		deviceLimit  uint64
		scratchLimit uint64
		lanes        uint32
		copyThreads  uint32
	}
	cEngineInfo struct {
		size        uint32
		device      int32
		lanes       uint32
		lanesFree   uint32
		keys        uint32
		structures  uint32
		deviceBytes uint64
		openMS      float64
		prepareMS   float64
	}
	cSection struct {
		points      unsafe.Pointer
		count       uint64
		absent      unsafe.Pointer
		absentWords uint64
	}
	cKeySource struct {
		size           uint32
		curve          uint32
		layout         uint32
		reserved       uint32
		wires          uint64
		publicInputs   uint64
		domain         uint64
		alphaG1        unsafe.Pointer
		betaG1         unsafe.Pointer
		deltaG1        unsafe.Pointer
		betaG2         unsafe.Pointer
		deltaG2        unsafe.Pointer
		section        [groth16.SectionH + 1]cSection
		committed      unsafe.Pointer
		committedCount uint64
		deviceBudget   uint64
		hostBudget     uint64
		cancel         *uint32
		read           uintptr
		readContext    uintptr
	}
	cKeyInfo struct {
		size             uint32
		curve            uint32
		layout           uint32
		streamed         uint32
		wires            uint64
		publicInputs     uint64
		domain           uint64
		deviceBytes      uint64
		hostBytes        uint64
		proofDeviceBytes uint64
		scratchBytes     uint64
	}
	cMatrix struct {
		start       unsafe.Pointer
		wire        unsafe.Pointer
		coefficient unsafe.Pointer
		entries     uint64
	}
	cStructureSource struct {
		size             uint32
		curve            uint32
		wires            uint64
		publicInputs     uint64
		constraints      uint64
		a, b, c          cMatrix
		coefficients     unsafe.Pointer
		coefficientCount uint64
		cancel           *uint32
	}
	cProofOptions struct {
		size        uint32
		bits        uint32
		structure   handle
		constraints uint64
		witness     uint64
	}
	cProofResult struct {
		size  uint32
		curve uint32
		a     [96]byte
		b     [192]byte
		c     [96]byte
	}
	cProofTimings struct {
		size                                               uint32
		reserved                                           uint32
		upload, evaluate, prepMSM, ntt, nttMSMH            float64
		batchAdd, bG2MSM, tailMSM, wait, gpuTotal, wallAll float64
	}
)

// handle is one of the library's objects; 0 is none.
type handle uintptr

// functions are the library's entry points.
type functions struct {
	buildInfo        func() string
	deviceCount      func(count *int32, e *cError) int32
	deviceInfo       func(device int32, info *cDeviceInfo, e *cError) int32
	deviceMemory     func(device int32, free, total *uint64, e *cError) int32
	hostAlloc        func(device int32, bytes uint64, memory *unsafe.Pointer, e *cError) int32
	hostFree         func(device int32, memory unsafe.Pointer, bytes uint64, e *cError) int32
	engineOpen       func(options *cEngineOptions, engine *handle, e *cError) int32
	engineInfo       func(engine handle, info *cEngineInfo, e *cError) int32
	engineSelftest   func(engine handle, e *cError) int32
	engineClose      func(engine handle, e *cError) int32
	keyLoad          func(engine handle, source *cKeySource, key *handle, e *cError) int32
	keyInfo          func(key handle, info *cKeyInfo, e *cError) int32
	keyRelease       func(key handle, e *cError) int32
	structureLoad    func(engine handle, source *cStructureSource, structure *handle, e *cError) int32
	structureBytes   func(structure handle, bytes *uint64, e *cError) int32
	structureRelease func(structure handle, e *cError) int32
	proofBegin       func(engine, key handle, options *cProofOptions, proof *handle, e *cError) int32
	proofWrite       func(proof handle, vector, form uint32, offset, count uint64, data unsafe.Pointer, e *cError) int32
	proofCompute     func(proof handle, r, s unsafe.Pointer, result *cProofResult, timings *cProofTimings, e *cError) int32
	proofCancel      func(proof handle) int32
	proofRelease     func(proof handle, e *cError) int32
}

// bind looks up every entry point, after the version has been compared.
func bind(library uintptr) (*functions, error) {
	var version func() uint32
	if err := lookUp(library, "cuzk_abi_version", &version); err != nil {
		return nil, err
	}
	if v := version(); v != abiVersion {
		return nil, unusable("its interface has version %d, this cuzk needs version %d", v, abiVersion)
	}
	f := &functions{}
	for name, function := range map[string]any{
		"cuzk_build_info": &f.buildInfo, "cuzk_device_count": &f.deviceCount, "cuzk_device_info_get": &f.deviceInfo,
		"cuzk_device_memory": &f.deviceMemory, "cuzk_host_alloc": &f.hostAlloc, "cuzk_host_free": &f.hostFree,
		"cuzk_engine_open": &f.engineOpen, "cuzk_engine_info_get": &f.engineInfo, "cuzk_engine_selftest": &f.engineSelftest,
		"cuzk_engine_close": &f.engineClose, "cuzk_key_load": &f.keyLoad, "cuzk_key_info_get": &f.keyInfo,
		"cuzk_key_release": &f.keyRelease, "cuzk_structure_load": &f.structureLoad, "cuzk_structure_bytes": &f.structureBytes,
		"cuzk_structure_release": &f.structureRelease, "cuzk_proof_begin": &f.proofBegin, "cuzk_proof_write": &f.proofWrite,
		"cuzk_proof_compute": &f.proofCompute, "cuzk_proof_cancel": &f.proofCancel, "cuzk_proof_release": &f.proofRelease,
	} {
		if err := lookUp(library, name, function); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func lookUp(library uintptr, name string, function any) error {
	symbol, err := purego.Dlsym(library, name)
	if err != nil {
		return unusable("it has no function %s", name)
	}
	purego.RegisterFunc(function, symbol)
	return nil
}

// check makes an error of a code.
func (e *cError) check(code int32) error {
	if code == int32(OK) {
		return nil
	}
	message := text(e.message[:])
	if message == "" {
		message = fmt.Sprintf("libcuzk failed with code %d", code)
	}
	return &Error{Code: Code(code), Message: message, Asked: int64(e.asked), Free: int64(e.free)}
}

// text is a C string in a buffer.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
