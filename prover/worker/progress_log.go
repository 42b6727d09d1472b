package worker

import (
	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// logReading tells the log of a large file that is fetched or read, now and then.
func logReading(log logr.Logger, c clock.PassiveClock) progress.Func {
	return progress.Every(progress.LogInterval, c.Now, func(done, total int64) {
		log.Info("Read part of a file", "bytes", done, "of", total)
	})
}

// logStage tells the log of a stage that takes long, now and then.
func logStage(log logr.Logger, c clock.PassiveClock, partition int, s stage.Name) progress.Func {
	return progress.Every(progress.LogInterval, c.Now, func(done, total int64) {
		log.Info("Did part of a stage", "partition", partition, "stage", string(s), "percent", 100*done/total, "done", done, "of", total)
	})
}
