package image

import "strings"

// Normalize completes an image's name as container runtimes do: "app" is "docker.io/library/app:latest".
func Normalize(name string) string {
	if i := strings.LastIndexByte(name, '/'); !strings.ContainsAny(name[i+1:], ":@") {
		name += ":latest"
	}
	host, _, ok := strings.Cut(name, "/")
	switch {
	case !ok:
		return "docker.io/library/" + name
	case host == "localhost" || strings.ContainsAny(host, ".:"):
		return name
	default:
		return "docker.io/" + name
	}
}
