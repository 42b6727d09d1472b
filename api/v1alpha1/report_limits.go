// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
)

// The status of a job is at most 512 KiB, however many partitions it has and whatever its pods write. What a partition
// may say therefore depends on how many there are; the schema's rules enforce what the functions here compute.

const (
	// MaxStatusBytes bounds the status of a ProofJob, as JSON.
	MaxStatusBytes = 512 << 10

	// MaxDetailedPartitions is the largest number of partitions whose reports may hold the times of kernels, and of the
	// stages of each run. In a larger job a report holds the times of the stages of the reported run, and each run's total.
	MaxDetailedPartitions = 32

	// MaxRunEntries bounds the entries of report.runs in all partitions together.
	MaxRunEntries = 512

	// MaxReportedPublicInputBytes bounds the public inputs in a report, see PublicInputBytes.
	MaxReportedPublicInputBytes = 4096

	// MaxPartitionMessageBytes bounds the messages of all partitions together.
	MaxPartitionMessageBytes = 2048

	// MaxMessageLength bounds one message, of a condition, a partition or a report's error.
	MaxMessageLength = 1024

	// MaxRefusals is where report.refusals stops counting.
	MaxRefusals = 999

	// MaxWithdrawnDevices bounds report.withdrawnDevices; maxDeviceName bounds UUID and name of one, maxDeviceReason the
	// reason.
	MaxWithdrawnDevices = 16
	maxDeviceName       = 64
	maxDeviceReason     = 256

	reportPayloadShare = 478000
	reportPayloadBase  = 762
	reportPayloadMax   = 5200

	reportDevicesShare = 18000
	reportDevicesBase  = 10
	reportDevicesMax   = 2048
)

// ReportPayloadBudget returns how many bytes the proof, the public inputs (see PublicInputBytes) or their digest, and the
// error's message may take together in a report of a job with the given number of partitions: 5200 up to 80 partitions,
// 1105 with 256: a proof of snarkjs for BLS12-381 and a digest.
func ReportPayloadBudget(partitions int) int {
	if partitions < 1 {
		return reportPayloadMax
	}
	return min(reportPayloadMax, reportPayloadShare/partitions-reportPayloadBase)
}

// PublicInputBytes returns how many bytes public inputs count for: their digits, and three more for each.
func PublicInputBytes(values []string) int {
	n := 0
	for _, v := range values {
		n += len(v) + 3
	}
	return n
}

// PublicInputsFit tells whether a report in a job of the given number of partitions may hold the public inputs beside the
// proof. If they do not, the report holds their digest (PublicInputsDigest), and the proof can be verified only if the
// job declares the values.
func PublicInputsFit(values []string, proof string, partitions int) bool {
	n := PublicInputBytes(values)
	return n <= MaxReportedPublicInputBytes && n+len(proof) <= ReportPayloadBudget(partitions)
}

// PublicInputsDigest returns the digest of public inputs, given in decimal: SHA-256 over each value and a newline.
func PublicInputsDigest(values []string) string {
	h := sha256.New()
	for _, v := range values {
		_, _ = io.WriteString(h, v)
		_, _ = io.WriteString(h, "\n")
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// DetailedTimings tells whether reports of a job of the given number of partitions may hold the times of kernels, and of
// the stages of each run.
func DetailedTimings(partitions int) bool { return partitions <= MaxDetailedPartitions }

// MaxRuns returns how many entries report.runs may have in a job of the given number of partitions.
func MaxRuns(partitions int) int { return min(50, MaxRunEntries/max(1, partitions)) }

// Bounded returns the timings as a report of a job of the given number of partitions may hold them.
func (t Timings) Bounded(partitions int) Timings {
	if DetailedTimings(partitions) {
		return t
	}
	return Timings{
		QueueMilliseconds:  t.QueueMilliseconds,
		SRSMilliseconds:    t.SRSMilliseconds,
		SynthMilliseconds:  t.SynthMilliseconds,
		GPUMilliseconds:    t.GPUMilliseconds,
		VerifyMilliseconds: t.VerifyMilliseconds,
		TotalMilliseconds:  t.TotalMilliseconds,
	}
}

// Bounded returns a run's timings as a report of a job of the given number of partitions may hold them.
func (r RunTimings) Bounded(partitions int) RunTimings {
	if DetailedTimings(partitions) {
		return r
	}
	return RunTimings{Type: r.Type, Timings: Timings{TotalMilliseconds: r.TotalMilliseconds}}
}

// WithdrawnDevicesBudget returns how many bytes the withdrawn devices may take in a report of a job with the given number
// of partitions, as JSON: 2048 up to 8 partitions, 60 with 256, the UUID of one GPU. In a job of more than
// MaxDetailedPartitions they, and refusals, stand in the place of report.runs.
func WithdrawnDevicesBudget(partitions int) int {
	if partitions < 1 {
		return reportDevicesMax
	}
	return min(reportDevicesMax, reportDevicesShare/partitions-reportDevicesBase)
}

// What JSON adds to the members of a WithdrawnDevice.
const (
	deviceUUIDBytes   = len(`{"uuid":""},`)
	deviceNameBytes   = len(`,"name":""`)
	deviceReasonBytes = len(`,"reason":""`)
)

// BoundWithdrawnDevices returns withdrawn devices as a report of a job of the given number of partitions may hold them.
// UUIDs come first, then reasons, then names; what there is no room for is shortened or left out.
func BoundWithdrawnDevices(all []WithdrawnDevice, partitions int) []WithdrawnDevice {
	room := WithdrawnDevicesBudget(partitions)
	fit := func(text string, limit, around int) string {
		text = ReportMessage(text, min(limit, room-around))
		if text != "" {
			room -= len(text) + around
		}
		return text
	}
	var devices, bounded []WithdrawnDevice
	for _, d := range all {
		if d.UUID == "" || len(d.UUID) > min(maxDeviceName, room-deviceUUIDBytes) || len(devices) == MaxWithdrawnDevices {
			continue
		}
		devices = append(devices, d)
		bounded = append(bounded, WithdrawnDevice{UUID: fit(d.UUID, maxDeviceName, deviceUUIDBytes)})
	}
	for i, d := range devices {
		bounded[i].Reason = fit(d.Reason, maxDeviceReason, deviceReasonBytes)
	}
	for i, d := range devices {
		bounded[i].Name = fit(d.Name, maxDeviceName, deviceNameBytes)
	}
	return bounded
}

// reportText replaces what ReportMessage does not let through.
var reportText = strings.NewReplacer(
	`"`, "'", `\`, "/", "<", "(", ">", ")", "&", "+",
	"\n", " ", "\t", " ", "\r", " ",
	"…", "...", "–", "-", "—", "-", "’", "'", "“", "'", "”", "'",
)

// ReportMessage returns a text as the message of a report's error, and what it says of devices, may be: printable ASCII without characters that JSON
// escapes, at most limit bytes. What a pod says ends up in terminals and in the status's byte count.
func ReportMessage(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, reportText.Replace(strings.TrimSpace(text)))
	limit = min(limit, MaxMessageLength)
	if len(text) <= limit {
		return text
	}
	if limit <= 3 {
		return text[:max(0, limit)]
	}
	return text[:limit-3] + "..."
}
