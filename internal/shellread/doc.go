// Package shellread reads the shell scripts, the shell blocks of the
// instructions and the allowed-tools of a skill, without running anything, and
// proposes the grants that the skill seems to need, each with the file and the
// line it came from. A person decides; nothing here grants anything.
//
// What is read is written by somebody who may want it misread. So the result
// errs to one side: where the text does not tell what runs, is written or is
// connected to, the bare class is proposed, which covers nothing and asks each
// time, with Static false and the reason. Every proposal parses as a
// [capability.Grant]. A grant is proposed once for a file, with its first line
// and the reasons from further down.
//
// # Commands
//
// A script is itself one proposal, spawn.proc(path **), and without a #! line
// a second one, spawn.proc(sh path **). Of what it runs:
//
//	git -C sub log -1      spawn.proc(git -C sub log **)
//	mail send --to x       spawn.proc(mail send **)
//	grep -q x f            spawn.proc(grep **)
//	sudo -u bob rm x       spawn.proc(sudo -u bob rm **)
//	python3 tool.py x      spawn.proc(python3 tool.py **)
//	python3 -c 'print(1)'  spawn.proc(python3 -c print(1) **), not static: opaque
//	sh -c 'rm x'           what is in the string, and so on inwards
//	curl x | sh            spawn.proc, not static
//
// A tool with sub-commands keeps them, and the options before them. So do
// programs that are in no table, up to two plain words: a pattern that is too
// narrow asks, one that is too wide does not. A pattern that would leave open
// which program runs (python **, sh **, xargs **) is never proposed. What runs
// another program (env, nohup, time, timeout, nice, xargs, find -exec, exec,
// command, ...) is looked through; sudo, doas, chroot and busybox stay in the
// grant. Builtins of the shell and functions of the file are no proposals; a
// name counts as a function only where it is one whatever happens. Aliases
// and traps are read as the code they hold. A variable is read as its value if
// it is assigned once, at the top level, before its use, with nothing around
// that could assign it unseen; otherwise it is * within an argument, and ends
// the pattern with ** where it may be several.
//
// $0 and ${BASH_SOURCE[0]}, with dirname, cd and pwd around them, are paths of
// the skill, and so is what is built on them.
//
// # Files
//
// Redirects, and the arguments of the usual tools, are fs.read(path) and
// fs.write.irrev(path) in corpus work where the path is static, relative, and
// stays inside; a glob stays one. Otherwise the bare class is proposed. cd is
// followed where it cannot have failed: under set -e, in cd x && ..., after
// cd x || exit. Devices, descriptors and pipes are no files.
//
// # Hosts
//
// The address that curl, wget, ssh, scp, nc, git and the like are given is
// net.egress(host:port); /dev/tcp/host/port too. Where the host is not in the
// text, of package managers for instance, the class is proposed bare.
//
// # Instructions
//
// In Markdown, blocks tagged sh, bash, shell, zsh, console or terminal are
// read; in a console block, and in any other that has $ prompts, only what
// follows them. They are text that an
// agent may follow, so only processes and hosts are proposed, and Why says so.
// <id>, [options], {id} and ... are placeholders: they are not static, and
// where one is the name of the command there is nothing to propose.
// {baseDir} and its like are the directory of the skill. Lines that do not
// parse are said not to, and left out.
//
// # What this does not see
//
// What a program does with its arguments, unless it is in the tables of this
// package: awk, make, tar, git and many others can run further programs, which
// the grant for them includes. Where redirects on the other side of the network
// lead, what a remote shell runs, links, and whatever is in a file that the
// script makes first. Reading is not enforcement.
//
// Languages other than shell are not read: see [Kind] and [Opaque].
//
// # Cost
//
// Time is linear in the source but for bounded factors: code in strings is read
// [MaxSource] bytes a file and eight levels deep, brace expansions up to 64
// words, nesting up to 600 levels, constants up to 512 bytes. Nothing here does
// input or output, or keeps state.
package shellread
