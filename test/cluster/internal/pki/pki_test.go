package pki

import (
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"
)

func TestIssueVerifies(t *testing.T) {
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	ca, err := NewAuthority("kubernetes-ca", now)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewAuthority("kubernetes-ca", now)
	if err != nil {
		t.Fatal(err)
	}
	server, err := ca.Issue("kube-apiserver", "", Server, []string{"kubernetes.default.svc", "10.96.0.1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "a.crt"), filepath.Join(dir, "a.key")
	if err := server.WriteFiles(certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		root Pair
		host string
		use  x509.ExtKeyUsage
		ok   bool
	}{
		"by name":         {ca, "kubernetes.default.svc", x509.ExtKeyUsageServerAuth, true},
		"by address":      {ca, "10.96.0.1", x509.ExtKeyUsageServerAuth, true},
		"other name":      {ca, "kubernetes.evil.svc", x509.ExtKeyUsageServerAuth, false},
		"as a client":     {ca, "kubernetes.default.svc", x509.ExtKeyUsageClientAuth, false},
		"other authority": {other, "kubernetes.default.svc", x509.ExtKeyUsageServerAuth, false},
	} {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			roots.AddCert(tc.root.Cert)
			_, err := loaded.Cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: tc.host, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{tc.use}})
			if (err == nil) != tc.ok {
				t.Errorf("verify: %v, want success %v", err, tc.ok)
			}
		})
	}
	if !loaded.Key.PublicKey.Equal(loaded.Cert.PublicKey) {
		t.Error("the key on the disk is not the certificate's")
	}
}
