package filecoin

// Published is a parameter file of Filecoin's trusted set-up, with its verifying key.
type Published struct {
	Circuit Circuit
	Sector  SectorSize
	// Params and VK are the digests of the two files: BLAKE2b-512, the first 128 bits, in hex.
	Params, VK string
	Lengths    Lengths
}

// Lengths are the numbers of points of a parameter file's arrays. B is that of both b_g1 and b_g2.
type Lengths struct{ IC, H, L, A, B int }

// Sizes of uncompressed points, and of the single points that begin both files.
const (
	g1Bytes       = 96
	g2Bytes       = 192
	verticesBytes = 3*g1Bytes + 3*g2Bytes
)

// VKBytes is the size of the verifying key's file: the single points, then ic with its length.
func (l Lengths) VKBytes() int64 { return verticesBytes + 4 + g1Bytes*int64(l.IC) }

// ParamsBytes is the size of the parameter file, which begins as the verifying key does.
func (l Lengths) ParamsBytes() int64 {
	return l.VKBytes() + 5*4 + g1Bytes*(int64(l.H)+int64(l.L)+int64(l.A)+int64(l.B)) + g2Bytes*int64(l.B)
}

// PublishedParameters are those of the parameter version in use. Digests are those of the reference's parameters.json;
// lengths follow from the circuits' sizes and densities.
var PublishedParameters = []Published{
	{PoRep, Sector2KiB, "434fb1338ecfaf0f59256f30dde4968f", "dc1ade9929ade1708238f155343044ac", Lengths{40, 4194303, 2685673, 2674948, 685522}},
	{PoRep, Sector8MiB, "09e612e4eeb7a0eb95679a88404f960c", "b687beb9adbd9dabe265a7e3620813e4", Lengths{40, 4194303, 3842449, 3815036, 1011290}},
	{PoRep, Sector512MiB, "6c77597eb91ab936c1cef4cf19eba1b3", "065179da19fbe515507267677f02823e", Lengths{40, 8388607, 4420837, 4385080, 1174174}},
	{PoRep, Sector32GiB, "6a388072a518cf46ebd661f5cc46900a", "0c7b4aac1c40fdb7eb82bc355b41addf", Lengths{328, 134217727, 130169893, 129753620, 33112282}},
	{PoRep, Sector64GiB, "1801f8a6e1b00bceb00cc27314bb5ce3", "a89884252c04c298d0b3c81bfd884164", Lengths{328, 134217727, 131076643, 130637870, 33386944}},
	{WindowPoSt, Sector2KiB, "7610b9f82bfc88405b7a832b651ce2f6", "0e0958009936b9d5e515ec97b8cb792d", Lengths{23, 32767, 22128, 16793, 16029}},
	{WindowPoSt, Sector8MiB, "c49499bb76a0762884896f9683403f55", "34d4feeacd9abf788d69ef1bb4d8fd00", Lengths{23, 65535, 65088, 49353, 47149}},
	{WindowPoSt, Sector512MiB, "1a7d4a9c8a502a497ed92a54366af33f", "4dae975de4f011f101f5a2f86d1daaba", Lengths{23, 131071, 86568, 65633, 62709}},
	{WindowPoSt, Sector32GiB, "2cf49eb26f1fee94c85781a390ddb4c8", "0f8ec542485568fa3468c066e9fed82b", Lengths{25840, 134217727, 126902376, 96205645, 91925767}},
	{WindowPoSt, Sector64GiB, "3810b7780ac0e299b22ae70f1f94c9bc", "59d2bf1857adc59a4f08fcf2afaa916b", Lengths{25301, 134217727, 131500200, 99649801, 95413201}},
	{WinningPoSt, Sector2KiB, "82c88066be968bb550a05e30ff6c2413", "ffd79788d614d27919ae5bd2d94eacb6", Lengths{133, 131071, 91674, 69433, 66793}},
	{WinningPoSt, Sector8MiB, "700171ecf7334e3199437c930676af82", "79ebb55f56fda427743e35053edad8fc", Lengths{133, 262143, 233442, 176881, 169489}},
	{WinningPoSt, Sector512MiB, "827359440349fe8f5a016e7598993b79", "bd2cd62f65c1ab84f19ca27e97b7c731", Lengths{133, 524287, 304326, 230605, 220837}},
	{WinningPoSt, Sector32GiB, "d84f79a16fe40e9e25a36e2107bb1ba0", "fc02943678dd119e69e7fab8420e8819", Lengths{133, 524287, 375210, 284329, 272185}},
	{WinningPoSt, Sector64GiB, "2170a91ad5bae22ea61f2ea766630322", "6d3789148fb6466d07ee1e24d6292fd6", Lengths{133, 524287, 396000, 299971, 287695}},
	{SnapDeals, Sector2KiB, "311f92a3e75036ced01b1c0025f1fa0c", "eadad9784969890d30f2749708c79771", Lengths{5, 2097151, 1703569, 1697194, 444404}},
	{SnapDeals, Sector8MiB, "5aedd2cf3e5c0a15623d56a1b43110ad", "abd80269054d391a734febdac0d2e687", Lengths{5, 16777215, 9998039, 9981020, 2567922}},
	{SnapDeals, Sector512MiB, "c3ad7bb549470b82ad52ed070aebb4f4", "994c5b7d450ca9da348c910689f2dc7f", Lengths{5, 67108863, 57401314, 57212322, 14916880}},
	{SnapDeals, Sector32GiB, "1b3cfd761a961543f9eb273e435a06a2", "3a6941983754737fde880d29c7094905", Lengths{5, 134217727, 80978488, 80743586, 20983608}},
	{SnapDeals, Sector64GiB, "1a392e7b759fb18e036c7559b5ece816", "80e366df2f1011953c2d01c7b7c9ee8e", Lengths{5, 134217727, 84931220, 84682730, 22012684}},
	{SnapDealsPoseidon, Sector32GiB, "b69983b5d7a97a20f43b3d5ff2a4ed04", "1ac05784f304129f74c5184190c1ec78", Lengths{5, 33554431, 22593319, 17104397, 16340710}},
	{SnapDealsPoseidon, Sector64GiB, "a6d4f96e2b641a6d7a1a8e6dc1155c8a", "8e8fb9e2c56eb5d740d0de135305a7b8", Lengths{5, 33554431, 23889511, 18078605, 17306662}},
}

// Published finds the published parameters of a circuit.
func (c Circuit) Published(size SectorSize) (Published, bool) {
	for _, p := range PublishedParameters {
		if p.Circuit == c && p.Sector == size {
			return p, true
		}
	}
	return Published{}, false
}
