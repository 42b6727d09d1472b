package vanilla_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// snapFile is Curio's type proof.Snap, as it marshals it.
type snapFile struct {
	ProofType uint64
	OldR      [32]byte `json:"old_r"`
	NewR      [32]byte `json:"new_r"`
	NewD      [32]byte `json:"new_d"`
	Proofs    [][]byte
}

func TestUpdatesOfCurio(t *testing.T) {
	s, data := snapCase(t)
	file := snapFile{OldR: s.CommROld, NewR: s.CommRNew, NewD: s.CommDNew, Proofs: [][]byte{data}}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if !vanilla.IsUpdate(text) || vanilla.IsUpdate(data) || vanilla.IsUpdate([]byte(`{"comm_c":[]}`)) {
		t.Error("a file is taken for what it is not")
	}
	u, err := vanilla.ReadUpdate("f", text)
	if err != nil {
		t.Fatal(err)
	}
	if u.Proof != 0 || u.CommROld != s.CommROld || u.CommRNew != s.CommRNew || u.CommDNew != s.CommDNew || len(u.Partitions) != 1 {
		t.Errorf("read as %+v", u)
	}
	if err := u.Partitions[0].Check("f", s, 0); err != nil {
		t.Error(err)
	}
	proof := base64.StdEncoding.EncodeToString(data)
	for want, change := range map[string][2]string{
		"ProofType at offset 14: is 9, but":           {`"ProofType":0`, `"ProofType":9`},
		"Proofs at offset":                            {`"Proofs":["`, `"Proofs":[],"x":["`},
		"has more than 1 item":                        {`"]}`, `",""]}`},
		"Proofs[0].comm_c at offset 0: the file ends": {proof, ""},
		"Proofs[0].apex_leafs at offset 32: has":      {proof, base64.StdEncoding.EncodeToString(append(append([]byte(nil), data[:32]...), 9, 9, 9, 9, 9, 9, 9, 9))},
		"Proofs[0] at offset":                         {proof, "*"},
		"new_d at offset":                             {`"new_d":[`, `"new_d":[300,`},
		"old_r":                                       {`"old_r"`, `"older"`},
	} {
		bad := strings.Replace(string(text), change[0], change[1], 1)
		if _, err := vanilla.ReadUpdate("f", []byte(bad)); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
