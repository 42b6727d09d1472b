//go:build unix && !linux

package buffer

func advise([]byte) {}
