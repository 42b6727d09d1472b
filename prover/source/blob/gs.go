package blob

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2/google"

	"github.com/cuzk-dev/cuzk/prover/source"
)

const readOnly = "https://www.googleapis.com/auth/devstorage.read_only"

// openGS reads the credential service-account.json. Without it the platform's identity counts (workload identity,
// GOOGLE_APPLICATION_CREDENTIALS); where there is none, objects are read anonymously.
func openGS(ctx context.Context, bucket string, o source.Options) (*blob.Bucket, error) {
	c, err := source.Credential(o.Credentials, "service-account.json")
	if err != nil {
		return nil, err
	}
	client := gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
	if data := c["service-account.json"]; data != "" {
		conf, err := google.JWTConfigFromJSON([]byte(data), readOnly)
		if err != nil {
			return nil, fmt.Errorf("credential service-account.json: %w", err)
		}
		if client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.TokenSource(conf.TokenSource(ctx))); err != nil {
			return nil, err
		}
	} else if creds, err := google.FindDefaultCredentials(ctx, readOnly); err == nil {
		if client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.TokenSource(creds.TokenSource)); err != nil {
			return nil, err
		}
	}
	return gcsblob.OpenBucket(ctx, client, bucket, nil)
}
