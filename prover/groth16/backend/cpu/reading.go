package cpu

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// readBytes bounds what is read at once of a section: often enough for who waits to see it move, and seldom enough to cost
// nothing.
const readBytes = 32 << 20

// sectionPoints are all points of a section. Where they can be read in parts they are, so that the reader can tell how far it
// is, and ends with the context.
func sectionPoints(ctx context.Context, src groth16.KeySource, shape groth16.KeyShape, s groth16.Section) ([]byte, error) {
	reader, ok := src.(groth16.PointReader)
	if !ok {
		return src.Points(s)
	}
	size := shape.PointSize(s)
	points := make([]byte, shape.SectionBytes(s))
	step := readBytes / size * size
	for at := 0; at < len(points); at += step {
		if err := reader.ReadPoints(ctx, s, at/size, points[at:min(at+step, len(points))]); err != nil {
			return nil, err
		}
	}
	return points, nil
}
