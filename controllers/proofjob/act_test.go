package proofjob

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/identity"
)

// A Role in the way of a job is shown in its status; a fault of the moment is not.
func TestRefusedByARoleInTheWay(t *testing.T) {
	why := refusalOf(fmt.Errorf("make the identity: %w", &identity.ForeignError{Kind: "Role", Name: "cuzk-prover"}))
	if why == nil || why.Reason != api.ReasonJobCreationFailed || !strings.Contains(why.Message, "Role cuzk-prover") || why.ForGood {
		t.Errorf("refusal %+v", why)
	}
	if why := refusalOf(errors.New("connection reset")); why != nil {
		t.Errorf("refusal %+v", why)
	}
}
