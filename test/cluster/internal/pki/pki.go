// Package pki makes the keys and certificates of a cluster. They are for clusters that live in a namespace of one
// machine: every key is on the disk, unencrypted.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

const validity = 10 * 365 * 24 * time.Hour

// Pair is a certificate and its private key, in memory.
type Pair struct {
	Cert *x509.Certificate
	Key  *ecdsa.PrivateKey
}

// Usage tells what a certificate is for.
type Usage int

// Usages of certificates.
const (
	Client Usage = 1 << iota
	Server
)

// NewAuthority makes a certificate authority.
func NewAuthority(name string, now time.Time) (Pair, error) {
	return issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}, nil, now)
}

// Issue makes a certificate that the authority p signs: the common name is the user, the organization its group, names are the DNS names and IP
// addresses of a server.
func (p Pair) Issue(user, group string, usage Usage, names []string, now time.Time) (Pair, error) {
	t := &x509.Certificate{Subject: pkix.Name{CommonName: user}, KeyUsage: x509.KeyUsageDigitalSignature}
	if group != "" {
		t.Subject.Organization = []string{group}
	}
	if usage&Client != 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	if usage&Server != 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, n)
		}
	}
	return issue(t, &p, now)
}

func issue(t *x509.Certificate, ca *Pair, now time.Time) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, err
	}
	t.SerialNumber = serial.Add(serial, big.NewInt(1))
	t.NotBefore, t.NotAfter = now.Add(-time.Hour), now.Add(validity)
	parent, signer := t, key
	if ca != nil {
		parent, signer = ca.Cert, ca.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", t.Subject.CommonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	return Pair{Cert: cert, Key: key}, err
}

// CertPEM is the certificate's PEM block.
func (p Pair) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Cert.Raw})
}

// KeyPEM is the private key's PEM block.
func (p Pair) KeyPEM() ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(p.Key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// WriteFiles writes the certificate and the key, the latter readable by the owner only.
func (p Pair) WriteFiles(certFile, keyFile string) error {
	key, err := p.KeyPEM()
	if err != nil {
		return err
	}
	if err := os.WriteFile(keyFile, key, 0o600); err != nil {
		return err
	}
	return os.WriteFile(certFile, p.CertPEM(), 0o644)
}

// Load reads what WriteFiles wrote.
func Load(certFile, keyFile string) (Pair, error) {
	certBlock, err := readPEM(certFile)
	if err != nil {
		return Pair{}, err
	}
	keyBlock, err := readPEM(keyFile)
	if err != nil {
		return Pair{}, err
	}
	cert, err := x509.ParseCertificate(certBlock)
	if err != nil {
		return Pair{}, fmt.Errorf("%s: %w", certFile, err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock)
	if err != nil {
		return Pair{}, fmt.Errorf("%s: %w", keyFile, err)
	}
	return Pair{Cert: cert, Key: key}, nil
}

func readPEM(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s: no PEM block", name)
	}
	return block.Bytes, nil
}

// WriteSigningKey makes the key pair that signs the tokens of ServiceAccounts.
func WriteSigningKey(keyFile, publicFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := (Pair{Key: key}).KeyPEM()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := os.WriteFile(keyFile, private, 0o600); err != nil {
		return err
	}
	return os.WriteFile(publicFile, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644)
}
