package pki

import (
	"encoding/base64"
	"encoding/json"
	"os"
)

// WriteKubeconfig writes a kubeconfig with the client certificate inside. JSON is YAML.
func WriteKubeconfig(file, cluster, server string, ca, client Pair) error {
	key, err := client.KeyPEM()
	if err != nil {
		return err
	}
	b64 := base64.StdEncoding.EncodeToString
	type named map[string]any
	config := map[string]any{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []named{{"name": cluster, "cluster": map[string]string{
			"server": server, "certificate-authority-data": b64(ca.CertPEM())}}},
		"users": []named{{"name": "user", "user": map[string]string{
			"client-certificate-data": b64(client.CertPEM()), "client-key-data": b64(key)}}},
		"contexts":        []named{{"name": cluster, "context": map[string]string{"cluster": cluster, "user": "user"}}},
		"current-context": cluster,
	}
	b, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o600)
}
