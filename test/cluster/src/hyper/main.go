// Hyper is one program with etcd, the Kubernetes control plane, the kubelet, kube-proxy and kubectl, picked by the name
// it is called by (links) or by its first argument.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	run := func(f func() *cobra.Command) func() {
		return func() { os.Exit(cli.Run(f())) }
	}
	cmds := map[string]func(){
		"etcd":                    func() { etcdmain.Main(os.Args) },
		"kube-apiserver":          run(apiserver.NewAPIServerCommand),
		"kube-controller-manager": run(kcm.NewControllerManagerCommand),
		"kube-scheduler":          run(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kube-proxy":              run(proxy.NewProxyCommand),
		"kubelet":                 run(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
		"kubectl": func() {
			logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
			if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
				util.CheckErr(err)
			}
		},
	}
	if f, ok := cmds[filepath.Base(os.Args[0])]; ok {
		f()
		return
	}
	if len(os.Args) > 1 {
		if f, ok := cmds[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			f()
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: hyper etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kube-proxy|kubelet|kubectl ...")
	os.Exit(2)
}
