// Command pulumi-resource-kubernetes serves Pulumi's Kubernetes provider.
//
// The provider module's own main package embeds generated files that its
// published module does not carry, so this one reads the same two documents
// from beside the executable, where the builder puts them.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is set by the builder to the release that the pinned module holds.
var version = "0.0.0"

func main() {
	schema, mapping, err := documents()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-resource-kubernetes:", err)
		os.Exit(1)
	}
	provider.Serve("kubernetes", version, schema, mapping)
}

func documents() (schema, mapping []byte, err error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if executable, err = filepath.EvalSymlinks(executable); err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(filepath.Dir(executable), "kubernetes-provider")
	if schema, err = os.ReadFile(filepath.Join(folder, "schema.json")); err != nil {
		return nil, nil, err
	}
	mapping, err = os.ReadFile(filepath.Join(folder, "terraform-mapping.json"))
	return schema, mapping, err
}
