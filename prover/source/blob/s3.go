package blob

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/cuzk-dev/cuzk/prover/source"
)

// openS3 reads the credentials AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and
// AWS_ENDPOINT_URL (a store that speaks S3: MinIO, Ceph; buckets are then part of the path). Without an access key the
// platform's identity counts (environment, web identity, instance); AWS_ANONYMOUS=true signs nothing.
func openS3(ctx context.Context, bucket string, o source.Options) (*blob.Bucket, error) {
	c, err := source.Credential(o.Credentials, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ANONYMOUS")
	if err != nil {
		return nil, err
	}
	var opts []func(*config.LoadOptions) error
	switch id, secret := c["AWS_ACCESS_KEY_ID"], c["AWS_SECRET_ACCESS_KEY"]; {
	case id != "" && secret != "":
		opts = append(opts, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, secret, c["AWS_SESSION_TOKEN"])))
	case id != "" || secret != "":
		return nil, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: one of them is missing in the credentials")
	case c["AWS_ANONYMOUS"] == "true":
		opts = append(opts, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	if r := c["AWS_REGION"]; r != "" {
		opts = append(opts, config.WithRegion(r))
	}
	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	// Source repeats what breaks, and from where it broke.
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	client := s3.NewFromConfig(cfg, func(so *s3.Options) {
		if e := c["AWS_ENDPOINT_URL"]; e != "" {
			so.BaseEndpoint = aws.String(e)
			so.UsePathStyle = true
		}
		so.DisableLogOutputChecksumValidationSkipped = true
	})
	return s3blob.OpenBucket(ctx, client, bucket, nil)
}
