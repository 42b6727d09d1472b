package main

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"reflect"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// element is what the vectors need of a field of gnark-crypto.
type element[T any] interface {
	*T
	Add(a, b *T) *T
	Sub(a, b *T) *T
	Mul(a, b *T) *T
	Square(a *T) *T
	Neg(a *T) *T
	Inverse(a *T) *T
	BigInt(*big.Int) *big.Int
}

// extension is what the vectors need of a quadratic extension.
type extension[T any] interface {
	*T
	Mul(a, b *T) *T
	Square(a *T) *T
	Inverse(a *T) *T
}

func writeFields(b *bytes.Buffer) {
	const columns = "[kFieldColumns]"
	table(b, "kBls12381Fp", columns, 6, fieldRows[bls12381fp.Element](bls12381fp.Modulus()))
	table(b, "kBls12381Fr", columns, 4, fieldRows[bls12381fr.Element](bls12381fr.Modulus()))
	table(b, "kBn254Fp", columns, 4, fieldRows[bn254fp.Element](bn254fp.Modulus()))
	table(b, "kBn254Fr", columns, 4, fieldRows[bn254fr.Element](bn254fr.Modulus()))
}

func writeExtensions(b *bytes.Buffer) {
	const columns = "[kExtensionColumns]"
	table(b, "kBls12381Fp2", columns, 12, extensionRows[bls12381.E2](bls12381fp.Modulus()))
	table(b, "kBn254Fp2", columns, 8, extensionRows[bn254.E2](bn254fp.Modulus()))
}

func fieldRows[T any, E element[T]](modulus *big.Int) [][][]uint64 {
	operands := operands(modulus)
	rows := make([][][]uint64, 0, len(operands))
	for i := range operands {
		a, b := fromWords[T](operands[i]), fromWords[T](operands[(i*7+5)%len(operands)])
		result := func(f func(z E) E) []uint64 {
			var z T
			return words(*f(E(&z)))
		}
		plain := bigWords(E(&a).BigInt(new(big.Int)), len(words(a)))
		rows = append(rows, [][]uint64{
			words(a), words(b),
			result(func(z E) E { return z.Add(&a, &b) }),
			result(func(z E) E { return z.Sub(&a, &b) }),
			result(func(z E) E { return z.Mul(&a, &b) }),
			result(func(z E) E { return z.Square(&a) }),
			result(func(z E) E { return z.Neg(&a) }),
			result(func(z E) E { return z.Inverse(&a) }),
			plain,
		})
	}
	return rows
}

func extensionRows[T any, E extension[T]](modulus *big.Int) [][][]uint64 {
	operands := operands(modulus)
	pair := func(i int) T {
		n := len(operands)
		return fromWords[T](append(append([]uint64{}, operands[i%n]...), operands[(i*3+1)%n]...))
	}
	var rows [][][]uint64
	for i := 0; i < len(operands); i += 2 {
		a, b := pair(i), pair(i*5+3)
		var product, square, inverse T
		E(&product).Mul(&a, &b)
		E(&square).Square(&a)
		E(&inverse).Inverse(&a)
		rows = append(rows, [][]uint64{words(a), words(b), words(product), words(square), words(inverse)})
	}
	return rows
}

// operands returns elements below the modulus, as the words of their Montgomery form: the ends of the range, powers of
// two, limbs of all ones or none, and random ones.
func operands(modulus *big.Int) [][]uint64 {
	n := (modulus.BitLen() + 63) / 64
	one := big.NewInt(1)
	var list []*big.Int
	for _, small := range []int64{0, 1, 2, 0xffffffff} {
		list = append(list, big.NewInt(small))
	}
	for _, below := range []int64{1, 2, 0xffffffff} {
		list = append(list, new(big.Int).Sub(modulus, big.NewInt(below)))
	}
	list = append(list, new(big.Int).Rsh(modulus, 1), new(big.Int).Add(new(big.Int).Rsh(modulus, 1), one))
	for _, bit := range []int{32, 64, modulus.BitLen() - 1} {
		list = append(list, new(big.Int).Lsh(one, uint(bit)))
	}
	ones := new(big.Int).Sub(new(big.Int).Lsh(one, uint(modulus.BitLen()-1)), one)
	list = append(list, ones)
	for _, pattern := range []uint64{0xffffffff, 0xffffffff00000000, 0xffff0000ffff0000} {
		w := make([]uint64, n)
		for i := range w {
			w[i] = pattern
		}
		list = append(list, new(big.Int).And(fromBigWords(w), ones))
	}
	random := rand.New(rand.NewPCG(1, uint64(modulus.BitLen())))
	for range 12 {
		w := make([]uint64, n)
		for i := range w {
			w[i] = random.Uint64()
		}
		list = append(list, new(big.Int).Mod(fromBigWords(w), modulus))
	}
	operands := make([][]uint64, len(list))
	for i, v := range list {
		operands[i] = bigWords(v, n)
	}
	return operands
}

func bigWords(v *big.Int, n int) []uint64 {
	mask := new(big.Int).SetUint64(^uint64(0))
	w := make([]uint64, n)
	for i := range w {
		w[i] = new(big.Int).And(new(big.Int).Rsh(v, uint(64*i)), mask).Uint64()
	}
	return w
}

func fromBigWords(w []uint64) *big.Int {
	v := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(w[i]))
	}
	return v
}

// words returns the limbs of an element, or of the components of an extension's, as they lie in memory.
func words(v any) []uint64 {
	var w []uint64
	visit(reflect.ValueOf(v), func(limb reflect.Value) { w = append(w, limb.Uint()) })
	return w
}

func fromWords[T any](w []uint64) T {
	var v T
	visit(reflect.ValueOf(&v).Elem(), func(limb reflect.Value) {
		limb.SetUint(w[0])
		w = w[1:]
	})
	return v
}

// visit calls f for the limbs of an array of them or of a struct of such arrays.
func visit(v reflect.Value, f func(limb reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			visit(field, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			f(v.Index(i))
		}
	default:
		panic("neither an element nor made of elements: " + v.Kind().String())
	}
}
