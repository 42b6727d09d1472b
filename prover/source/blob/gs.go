package blob

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/source"
)

const readOnly = "https://www.googleapis.com/auth/devstorage.read_only"

// openGS reads the credential service-account.json. Without it the platform's identity counts (workload identity,
// GOOGLE_APPLICATION_CREDENTIALS); where there is none, objects are read anonymously. STORAGE_EMULATOR_HOST names another
// server than Google's.
//
// Reading an object is one GET, so this speaks https itself: Google's library would be half of the binary.
func openGS(ctx context.Context, u *url.URL, o source.Options) (source.Source, error) {
	c, err := source.Credential(o.Credentials, "service-account.json", "STORAGE_EMULATOR_HOST")
	if err != nil {
		return nil, err
	}
	endpoint := "https://storage.googleapis.com"
	var tokens oauth2.TokenSource
	// The tokens outlive the call: a download may take hours.
	ctx = context.WithoutCancel(ctx)
	switch {
	case c["STORAGE_EMULATOR_HOST"] != "":
		endpoint = strings.TrimSuffix(c["STORAGE_EMULATOR_HOST"], "/")
	case c["service-account.json"] != "":
		conf, err := google.JWTConfigFromJSON([]byte(c["service-account.json"]), readOnly)
		if err != nil {
			return nil, fmt.Errorf("credential service-account.json: %w", err)
		}
		tokens = conf.TokenSource(ctx)
	default:
		if found, err := google.FindDefaultCredentials(ctx, readOnly); err == nil {
			tokens = found.TokenSource
		}
	}
	name := source.Redact(u.String())
	object, err := url.Parse(endpoint + "/" + url.PathEscape(u.Host) + u.EscapedPath())
	if err != nil {
		return nil, failure.New(failure.Usage, "not the address of an object").In(name)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if tokens != nil {
		client.Transport = &oauth2.Transport{Source: tokens}
	}
	return source.Web(object, name, client), nil
}
