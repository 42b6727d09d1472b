package progress

// Parts divides the progress of a whole among parts that are done one after the other.
type Parts struct {
	tell         Func
	begun, total int64
}

// Divide divides a total.
func Divide(total int64, tell Func) *Parts { return &Parts{tell: tell, total: total} }

// Part is the progress of the next part, which is share of the whole and told in units of its own.
func (p *Parts) Part(share int64) Func {
	begin := p.begun
	p.begun += share
	if p.tell == nil {
		return nil
	}
	return func(done, total int64) {
		scaled := share
		if done < total {
			scaled = int64(float64(share) * (float64(done) / float64(total)))
		}
		p.tell(begin+scaled, p.total)
	}
}

// Rest is the progress of the last part: all that is left.
func (p *Parts) Rest() Func { return p.Part(p.total - p.begun) }
