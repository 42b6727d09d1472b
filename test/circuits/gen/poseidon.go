package main

import "math/big"

// Poseidon with three elements and the S-box x^5. 8 full and 57 partial rounds are the paper's choice for 128 bits of
// security, with its margin, over primes of 254 and 255 bits.
const (
	width         = 3
	fullRounds    = 8
	partialRounds = 57
	rounds        = fullRounds + partialRounds
)

// poseidon is the permutation over one prime field.
type poseidon struct {
	prime     *big.Int
	constants [rounds][width]*big.Int
	matrix    [width][width]*big.Int
}

func newPoseidon(prime *big.Int) *poseidon {
	p := &poseidon{prime: prime}
	n := prime.BitLen()
	g := newGrain(n, width, fullRounds, partialRounds)
	for r := range p.constants {
		for i := range p.constants[r] {
			x := g.integer(n)
			for x.Cmp(prime) >= 0 {
				x = g.integer(n)
			}
			p.constants[r][i] = x
		}
	}
	for !p.cauchy(g, n) {
	}
	return p
}

// cauchy fills the matrix with 1/(x_i + y_j); it fails if the x and y that the register gives do not serve.
func (p *poseidon) cauchy(g *grain, n int) bool {
	var xy [2 * width]*big.Int
	seen := map[string]bool{}
	for i := range xy {
		xy[i] = g.integer(n)
		xy[i].Mod(xy[i], p.prime)
		seen[xy[i].String()] = true
	}
	if len(seen) != len(xy) {
		return false
	}
	for i := range width {
		for j := range width {
			sum := new(big.Int).Add(xy[i], xy[width+j])
			if sum.Mod(sum, p.prime).Sign() == 0 {
				return false
			}
			p.matrix[i][j] = sum.ModInverse(sum, p.prime)
		}
	}
	return true
}

func (p *poseidon) permute(state [width]*big.Int) [width]*big.Int {
	five := big.NewInt(5)
	for r := range rounds {
		full := r < fullRounds/2 || r >= fullRounds/2+partialRounds
		var boxed [width]*big.Int
		for i := range width {
			boxed[i] = new(big.Int).Add(state[i], p.constants[r][i])
			if full || i == 0 {
				boxed[i].Exp(boxed[i], five, p.prime)
			}
		}
		for i := range width {
			sum := new(big.Int)
			for j := range width {
				sum.Add(sum, new(big.Int).Mul(p.matrix[i][j], boxed[j]))
			}
			state[i] = sum.Mod(sum, p.prime)
		}
	}
	return state
}

// hash compresses two field elements to one.
func (p *poseidon) hash(left, right *big.Int) *big.Int {
	return p.permute([width]*big.Int{new(big.Int), left, right})[0]
}
