package blob

import (
	"context"
	"errors"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/cuzk-dev/cuzk/prover/source"
)

// openAzure reads the credentials AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or
// AZURE_STORAGE_CONNECTION_STRING; AZURE_STORAGE_DOMAIN names another cloud than blob.core.windows.net. With an account
// alone the platform's identity counts (workload identity, managed identity).
func openAzure(ctx context.Context, name string, o source.Options) (*blob.Bucket, error) {
	c, err := source.Credential(o.Credentials, "AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
		"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_DOMAIN")
	if err != nil {
		return nil, err
	}
	client, err := azureClient(name, c)
	if err != nil {
		return nil, err
	}
	return azureblob.OpenBucket(ctx, client, nil)
}

func azureClient(name string, c map[string]string) (*container.Client, error) {
	if cs := c["AZURE_STORAGE_CONNECTION_STRING"]; cs != "" {
		return container.NewClientFromConnectionString(cs, name, nil)
	}
	account := c["AZURE_STORAGE_ACCOUNT"]
	if account == "" {
		return nil, errors.New("azblob takes the account from the credentials: AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING is missing")
	}
	domain := c["AZURE_STORAGE_DOMAIN"]
	if domain == "" {
		domain = "blob.core.windows.net"
	}
	address := "https://" + account + "." + domain + "/" + name
	switch {
	case c["AZURE_STORAGE_KEY"] != "":
		key, err := container.NewSharedKeyCredential(account, c["AZURE_STORAGE_KEY"])
		if err != nil {
			return nil, err
		}
		return container.NewClientWithSharedKeyCredential(address, key, nil)
	case c["AZURE_STORAGE_SAS_TOKEN"] != "":
		return container.NewClientWithNoCredential(address+"?"+c["AZURE_STORAGE_SAS_TOKEN"], nil)
	}
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(address, identity, nil)
}
