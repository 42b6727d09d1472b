//go:build !linux || (!amd64 && !arm64) || nocuda

package libcuzk

// Open says that this build cannot open libraries.
func Open() (Library, error) {
	return nil, &UnusableError{Reason: "this build of cuzk is without CUDA (it is for Linux on amd64 and arm64, without the build tag nocuda)", Absent: true}
}
