package worker

import (
	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// withdrawnDevices tells of each device once: in the first report that is accepted after its withdrawal. The partition of
// that report is the one that the device failed at, since a pod proves one at a time.
type withdrawnDevices struct {
	told map[string]bool // by UUID
}

// untold returns the devices that no report told of.
func (w *withdrawnDevices) untold(all []groth16.Withdrawal) []v1alpha1.WithdrawnDevice {
	var devices []v1alpha1.WithdrawnDevice
	for _, d := range all {
		if !w.told[d.Device] {
			devices = append(devices, v1alpha1.WithdrawnDevice{UUID: d.Device, Name: d.Name, Reason: d.Reason.Error()})
		}
	}
	return devices
}

// tell notes that a report told of these devices.
func (w *withdrawnDevices) tell(devices []v1alpha1.WithdrawnDevice) {
	if w.told == nil {
		w.told = map[string]bool{}
	}
	for _, d := range devices {
		w.told[d.UUID] = true
	}
}

// withdrawn lists the devices that a backend gives no more work.
func withdrawn(b groth16.Backend) []groth16.Withdrawal {
	if w, ok := b.(groth16.Watched); ok {
		return w.Withdrawn()
	}
	return nil
}
