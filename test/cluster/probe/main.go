// Command probe runs in the pods of the cluster's own check: it tells what a container sees.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want hello, wait, api, serve or get")
	}
	switch args[0] {
	case "hello":
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		fmt.Printf("hello from %s uid=%d index=%s gpus=%s\n", host, os.Getuid(), os.Getenv("JOB_COMPLETION_INDEX"), os.Getenv("NVIDIA_VISIBLE_DEVICES"))
		return nil
	case "wait":
		fmt.Printf("waiting, gpus=%s\n", os.Getenv("NVIDIA_VISIBLE_DEVICES"))
		terminated := make(chan os.Signal, 1)
		signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT)
		<-terminated
		return nil
	case "api":
		return askAPI()
	case "serve":
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		server := &http.Server{Addr: ":8080", ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintln(w, "served by", host)
		})}
		return server.ListenAndServe()
	case "get":
		if len(args) != 2 {
			return errors.New("get wants a URL")
		}
		return fetch(http.DefaultClient, args[1], "")
	default:
		return fmt.Errorf("no command %q", args[0])
	}
}

// askAPI lists the pods of its namespace as a program in a pod does: by the Service's address, with the pod's token.
func askAPI() error {
	read := func(name string) (string, error) {
		b, err := os.ReadFile(filepath.Join(serviceAccount, name))
		return strings.TrimSpace(string(b)), err
	}
	token, err := read("token")
	if err != nil {
		return err
	}
	ca, err := read("ca.crt")
	if err != nil {
		return err
	}
	namespace, err := read("namespace")
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(ca)) {
		return errors.New("ca.crt holds no certificate")
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	url := fmt.Sprintf("https://%s:%s/api/v1/namespaces/%s/pods?limit=1", os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"), namespace)
	return fetch(client, url, token)
}

func fetch(client *http.Client, url, token string) error {
	client.Timeout = 10 * time.Second
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 200))
	if err != nil {
		return err
	}
	fmt.Println(resp.Status, strings.Join(strings.Fields(string(body)), " "))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}
