package synthesis

import (
	"encoding/hex"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// digests are those of the constraint systems of all registered proofs, and of the Poseidon variant of their updates. The
// reference implementation gives the same for those of which it was asked.
var digests = []struct {
	circuit filecoin.Circuit
	size    filecoin.SectorSize
	digest  string
}{
	{filecoin.PoRep, filecoin.Sector2KiB, "2c120b1125bd531d5a62b11932b2ae0e0cb47f455cea582994f97534e296bb42"},
	{filecoin.WindowPoSt, filecoin.Sector2KiB, "14279e1c38053fa35eab6f56dbf1c5ef337b533f2c42fd3d7b4e7a116796b331"},
	{filecoin.WinningPoSt, filecoin.Sector2KiB, "ce8079a9875ac8fafc46902e0e2368fa997e7f2ffb2065d2666ef92bc3ca2f67"},
	{filecoin.SnapDeals, filecoin.Sector2KiB, "c787aea9329f4525b3bcde14533b9b775654f6a9afe0a7c671783c8bd4f1f7a5"},
	{filecoin.SnapDealsPoseidon, filecoin.Sector2KiB, "c4c30fa1d5352f2413fd7ac8d04dfb05747b33e49ba060892d1a1b801dd1220e"},
	{filecoin.PoRep, filecoin.Sector8MiB, "b1fe5a4629fb8fc6684d6c90d6f8d6d32e5bccf6bc9439e4e8a9758e579328db"},
	{filecoin.WindowPoSt, filecoin.Sector8MiB, "ee6185d4d0e58fb6f56f11ebc105ec7a08829c99bbf18b91634e40d07abaee6f"},
	{filecoin.WinningPoSt, filecoin.Sector8MiB, "f76fd7ab1915553c8dbffbd06ef73bc77119d7b4e2e129534256b9abd952d38e"},
	{filecoin.SnapDeals, filecoin.Sector8MiB, "ee2b98435ff8e35305acee8e08f1428bf5d19dd1164174a356e150c11df28ae4"},
	{filecoin.SnapDealsPoseidon, filecoin.Sector8MiB, "77b5881b23fe9914434d69fe45e1fec959915b73634f07e1738c5ff9cd1a06d5"},
	{filecoin.PoRep, filecoin.Sector512MiB, "c7ade8c93707968e967cce4507669258eab20ff010e6dc1827d55544ee671cbb"},
	{filecoin.WindowPoSt, filecoin.Sector512MiB, "24ea17320d86130abde49b4eff2f6df38d8806b99018c5c2ac68930d951325c6"},
	{filecoin.WinningPoSt, filecoin.Sector512MiB, "1edcd1f497a9d12871d3f692ec90c670d9f837b3e37c31958dbf2ea239c021df"},
	{filecoin.SnapDeals, filecoin.Sector512MiB, "d9f9e8c5646d12ad5a07ce7967df4e19fd998a0439a3eb1585baf51559b24751"},
	{filecoin.SnapDealsPoseidon, filecoin.Sector512MiB, "eef3791ffffd8a8ac492c163a15e448fe787df303ed4e327042a5d0cdbea80da"},
	{filecoin.PoRep, filecoin.Sector32GiB, "a790207ea0435359e7d5f286563586e3f9a3a286c97af2440f65a4a18063d9cb"},
	{filecoin.WindowPoSt, filecoin.Sector32GiB, "1036a47757014fa295aee4d8539d43c45adaf71c80a4b17c1dba6eca41b0d54f"},
	{filecoin.WinningPoSt, filecoin.Sector32GiB, "f65cddbca7106bac1a8b92148badb4d96f488d56c233bd59b0d0a6919445cf4f"},
	{filecoin.SnapDeals, filecoin.Sector32GiB, "ed11b3af5ba3ae6e1e9e56122c31c51507edb6516c97baf1893a97da69517634"},
	{filecoin.SnapDealsPoseidon, filecoin.Sector32GiB, "2f19365f3f926e9920e11bfb4e989ca7dbf97c5cded50984811afc5c6a3002a5"},
	{filecoin.PoRep, filecoin.Sector64GiB, "7686117961498d7849ede7429233254b20e3b149011eca8674ca8e9ab0655af6"},
	{filecoin.WindowPoSt, filecoin.Sector64GiB, "c0067486fdc1ab0885e045ae7e61190ec4cdc979f939d08d67c3d06fc3c6f42c"},
	{filecoin.WinningPoSt, filecoin.Sector64GiB, "280879cc466ac3a629e7369617c7f774b28b9e39d39bcf56b896ff72d2481107"},
	{filecoin.SnapDeals, filecoin.Sector64GiB, "8854cef703f930ed25d91a7e818524f3e4c67bb2393ba3c70fbfb0b1572c96af"},
	{filecoin.SnapDealsPoseidon, filecoin.Sector64GiB, "7a41d9642d88d105e184801900a55286114c5bfef5fccc2346bc242a7f4577fd"},
}

// Digest is the digest of a shape's constraint system, if it is that of a registered proof.
func Digest(shape filecoin.Shape) (digest [structure.DigestBytes]byte, known bool) {
	for _, d := range digests {
		if sameCircuit(d.circuit.Shape(d.size), shape) {
			_, err := hex.Decode(digest[:], []byte(d.digest))
			return digest, err == nil
		}
	}
	return digest, false
}

// sameCircuit tells whether two shapes have the same circuit: that of a proof of replication does not depend on the number
// of partitions.
func sameCircuit(a, b filecoin.Shape) bool {
	x, isPoRep := a.(filecoin.PoRepShape)
	y, ok := b.(filecoin.PoRepShape)
	if isPoRep && ok {
		x.Partitions = y.Partitions
		return x == y
	}
	return a == b
}
