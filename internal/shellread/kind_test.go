package shellread

import "testing"

func TestKind(t *testing.T) {
	for _, c := range []struct {
		name, head string
		executable bool
		want       string
	}{
		{"a.sh", "", false, "shell"}, {"a.bash", "", false, "shell"}, {"a.SH", "", false, "shell"},
		{"a", "#!/bin/sh\n", false, "shell"}, {"a", "#!/usr/bin/env bash", true, "shell"}, {"a", "#! /usr/bin/env -S zsh -f\n", true, "shell"},
		{"a", "\xef\xbb\xbf#!/bin/bash\r\n", true, "shell"}, {"a", "#!/usr/bin/env A=1 dash\n", true, "shell"},
		{"a", "#!/usr/bin/env python3.12\n", true, "python"}, {"a", "#!/usr/bin/node\n", false, "javascript"}, {"a", "#!/opt/x\n", true, "script"}, {"a", "#!\n", true, "shell"},
		{"a.py", "", false, "python"}, {"a.mjs", "", false, "javascript"}, {"a.ts", "", false, "typescript"}, {"a.rb", "", false, "ruby"},
		{"a.pl", "", false, "perl"}, {"a.php", "", false, "php"}, {"a.ps1", "", false, "powershell"}, {"a.bat", "", false, "batch"}, {"a.fish", "", false, "fish"},
		{"a.sh", "#!/usr/bin/python3\n", true, "python"}, {"a.py", "#!/bin/sh\n", true, "python"}, {"a.sh", "\x7fELF", true, "binary"},
		{"a", "\x7fELF\x02", false, "binary"}, {"a.png", "\x7fELF", false, "binary"}, {"a", "\xcf\xfa\xed\xfe", false, "binary"}, {"a", "\xca\xfe\xba\xbe", false, "binary"},
		{"a", "MZ\x90\x00", false, "binary"}, {"a.txt", "MZ is a text", false, ""}, {"a.exe", "", false, "binary"}, {"a.wasm", "", false, "wasm"}, {"a", "\x00asm", false, "wasm"},
		{"a.jar", "PK\x03\x04", false, "jar"}, {"a.docx", "PK\x03\x04", false, ""}, {"a.zip", "PK\x03\x04", false, ""}, {"a", "PK\x03\x04", true, "binary"},
		{"a.md", "text", true, ""}, {"a.md", "#!/bin/sh\n", true, "shell"}, {"a.md", "#!/bin/sh\n", false, ""}, {"a.json", "{}", true, ""},
		{"a", "rm x\n", true, "shell"}, {"a", "rm x\n", false, ""}, {"a", "\x00\x01", true, "binary"}, {"a", "", true, ""}, {"Makefile", "all:\n", false, ""},
	} {
		if got := Kind(c.name, []byte(c.head), c.executable); got != c.want {
			t.Errorf("Kind(%q, %q, %v) = %q, want %q", c.name, c.head, c.executable, got, c.want)
		}
	}
}

func TestOpaque(t *testing.T) {
	p := Opaque("bin/a b", "python")
	if p.Grant != `spawn.proc(bin/a\ b **)` || p.Static || p.File != "bin/a b" || p.Line != 0 || p.Why != "opaque: python is not read; what it does is not known" {
		t.Errorf("%+v", p)
	}
	if p := Opaque("\xff", "binary"); p.Grant != "spawn.proc" || p.Static {
		t.Errorf("%+v", p)
	}
}
