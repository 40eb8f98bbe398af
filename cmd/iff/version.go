package main

import (
	"runtime"
	"runtime/debug"

	"github.com/iff-run/iff"
)

type versionCmd struct{}

type versionJSON struct {
	Version  string `json:"version" doc:"release"`
	Revision string `json:"revision" doc:"commit it was built from, empty if not recorded"`
	Go       string `json:"go" doc:"toolchain"`
	Platform string `json:"platform" doc:"operating system and architecture"`
}

func (versionCmd) Run(a *app) error {
	v := versionJSON{Version: iff.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return a.print(v, func() error {
		a.printf("iff %s", v.Version)
		if v.Revision != "" {
			a.printf(" (%.12s)", v.Revision)
		}
		a.printf(" %s %s\n", v.Go, v.Platform)
		return nil
	})
}
