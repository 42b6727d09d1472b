//go:build linux && (amd64 || arm64) && !nocuda

package libcuzk

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// native is the shared library. It stays loaded until the process ends: threads of its own may still run.
type native struct {
	path string
	*functions
}

// Open finds and opens the library. An *UnusableError says why there is none.
func Open() (Library, error) {
	var last error
	for _, c := range places() {
		l, err := openAt(c.path)
		if err == nil {
			return l, nil
		}
		if c.required {
			return nil, cannotBeUsed(fmt.Sprintf("%s, which %s names,", c.path, Env), err)
		}
		last = err
		if c.path != FileName {
			return nil, cannotBeUsed(c.path, err)
		}
	}
	if strings.Contains(last.Error(), "No such file") {
		return nil, &UnusableError{Absent: true, Reason: fmt.Sprintf("the CUDA library %s is not found", FileName)}
	}
	return nil, cannotBeUsed(FileName, last)
}

func openAt(path string) (*native, error) {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), path+": "))
	}
	f, err := bind(library)
	if err != nil {
		return nil, err
	}
	return &native{path: path, functions: f}, nil
}

func (l *native) Path() string { return l.path }

func (l *native) Build() string { return l.buildInfo() }

func (l *native) Devices() ([]Device, error) {
	var e cError
	var count int32
	if err := e.check(l.deviceCount(&count, &e)); err != nil {
		return nil, err
	}
	devices := make([]Device, count)
	for i := range devices {
		info := cDeviceInfo{size: uint32(unsafe.Sizeof(cDeviceInfo{}))}
		if err := e.check(l.deviceInfo(int32(i), &info, &e)); err != nil {
			return nil, err
		}
		devices[i] = Device{
			Index: i, Name: text(info.name[:]), UUID: formatUUID(info.uuid),
			PCI:   fmt.Sprintf("%08x:%02x:%02x.0", info.pciDomain, info.pciBus, info.pciDevice),
			Major: int(info.computeMajor), Minor: int(info.computeMinor), Driver: int(info.driverVersion), Runtime: int(info.runtimeVersion),
			Memory: int64(info.memory), Multiprocessors: int(info.multiprocessors), Native: info.native != 0,
			Architectures: text(info.architectures[:]),
		}
	}
	return devices, nil
}

func formatUUID(u [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func (l *native) Memory(device int) (free, total int64, err error) {
	var e cError
	var f, t uint64
	err = e.check(l.deviceMemory(int32(device), &f, &t, &e))
	return int64(f), int64(t), err
}

func (l *native) AllocateHost(device, bytes int) ([]byte, error) {
	var e cError
	var memory unsafe.Pointer
	if err := e.check(l.hostAlloc(int32(device), uint64(bytes), &memory, &e)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(memory), bytes), nil
}

func (l *native) FreeHost(device int, memory []byte) error {
	var e cError
	return e.check(l.hostFree(int32(device), unsafe.Pointer(unsafe.SliceData(memory)), uint64(len(memory)), &e))
}

func (l *native) OpenEngine(o EngineOptions) (Engine, error) {
	var e cError
	options := cEngineOptions{
		size: uint32(unsafe.Sizeof(cEngineOptions{})), device: int32(o.Device), deviceLimit: uint64(o.DeviceLimit),
		lanes: uint32(o.Lanes), copyThreads: uint32(o.CopyThreads),
	}
	engine := &nativeEngine{functions: l.functions}
	if err := e.check(l.engineOpen(&options, &engine.handle, &e)); err != nil {
		return nil, err
	}
	return engine, nil
}
