package shellread

import "strings"

// tool is a program with sub-commands. The tables of this file are constants
// in all but name.
type tool struct {
	depth  int    // how many words of the command line are its sub-command
	values string // options before it that take the next argument
	deeper string // sub-commands that have one more
}

var tools = map[string]tool{
	"git":            {1, "-C -c --git-dir --work-tree --namespace --exec-path", "remote stash submodule worktree bisect notes lfs sparse-checkout"},
	"gh":             {1, "-R --repo", "pr issue repo run release workflow auth gist label secret variable cache ruleset project codespace extension search config alias ssh-key gpg-key org"},
	"glab":           {2, "-R --repo", ""},
	"hub":            {1, "-C -c", ""},
	"jj":             {1, "-R --repository", "git bookmark operation op workspace"},
	"svn":            {1, "", ""},
	"hg":             {1, "-R --cwd", ""},
	"npm":            {1, "--prefix -w --workspace", "run run-script exec x pkg config"},
	"pnpm":           {1, "-C --dir -F --filter", "run exec dlx"},
	"yarn":           {1, "--cwd", "run workspace dlx"},
	"bun":            {1, "--cwd", "run x pm"},
	"npx":            {1, "-p --package", ""},
	"bunx":           {1, "", ""},
	"pnpx":           {1, "", ""},
	"corepack":       {1, "", ""},
	"deno":           {1, "", "run task"},
	"uv":             {1, "--directory --project", "run tool pip"},
	"uvx":            {1, "--from --with --python -p", ""},
	"pip":            {1, "", ""},
	"pip3":           {1, "", ""},
	"pipx":           {1, "", "run"},
	"poetry":         {1, "-C -P --directory --project", "run env"},
	"conda":          {1, "", "env"},
	"go":             {1, "-C", "mod tool work"},
	"cargo":          {1, "--manifest-path -C", ""},
	"rustup":         {1, "", "toolchain target component"},
	"gem":            {1, "", ""},
	"bundle":         {1, "", "exec"},
	"composer":       {1, "-d --working-dir", ""},
	"dotnet":         {1, "", "tool nuget"},
	"mvn":            {1, "-f --file", ""},
	"docker":         {1, "-H --host -c --context --config -l --log-level", "compose container image volume network system buildx builder context manifest plugin"},
	"podman":         {1, "", "compose container image volume network system machine pod"},
	"docker-compose": {1, "-f --file -p --project-name", ""},
	"kubectl":        {1, "-n --namespace --context --kubeconfig --cluster", "config rollout create auth top set"},
	"helm":           {1, "-n --namespace --kube-context", "repo dependency plugin"},
	"terraform":      {1, "", "state workspace"},
	"tofu":           {1, "", "state workspace"},
	"aws":            {1, "--profile --region --output --endpoint-url", "s3 s3api ec2 iam sts lambda ecs ecr eks rds dynamodb cloudformation cloudwatch logs ssm secretsmanager sns sqs kms route53 apigateway athena glue"},
	"gcloud":         {2, "--project --account", "compute container iam sql run functions auth config secrets storage"},
	"az":             {2, "", "network storage container"},
	"fly":            {1, "-a --app", "secrets volumes ips"},
	"flyctl":         {1, "-a --app", "secrets volumes ips"},
	"vercel":         {1, "", ""},
	"wrangler":       {1, "", "kv d1 r2 pages secret"},
	"heroku":         {1, "", ""},
	"brew":           {1, "", "services"},
	"apt":            {1, "-o -t", ""},
	"apt-get":        {1, "-o -t", ""},
	"dnf":            {1, "", ""},
	"yum":            {1, "", ""},
	"apk":            {1, "", ""},
	"pacman":         {1, "", ""},
	"snap":           {1, "", ""},
	"systemctl":      {1, "", ""},
	"launchctl":      {1, "", ""},
	"service":        {2, "", ""},
	"op":             {1, "--account --vault", "item vault document account user group"},
	"tmux":           {1, "-L -S -f -c", ""},
	"openssl":        {1, "", ""},
	"just":           {1, "-f --justfile -d --working-directory", ""},
	"make":           {1, "-C -f --directory --file -j", ""},
}

// wrapper is a program that runs another one.
type wrapper struct {
	letters  string // short options that take a value
	longs    string // long options that take the next argument
	operands int    // arguments before the command
	assigns  bool   // NAME=value before the command
	stays    bool   // in the grant: who says sudo means something else
	feeds    string // where further arguments come from
	quiet    bool   // alone it runs nothing
	silent   bool   // part of the shell itself: the command may be a builtin
	lookup   bool   // the command may be a function
	queries  string // short options with which nothing is run
}

var wrappers = map[string]wrapper{
	"env":        {letters: "uCS", longs: "--unset --chdir --split-string", assigns: true},
	"sudo":       {letters: "ugpCcrtTUhDR", longs: "--user --group --prompt --close-from --host --chdir --chroot --role --type --other-user --command-timeout", assigns: true, stays: true, queries: "lvkKVe"},
	"doas":       {letters: "uC", stays: true, queries: "L"},
	"chroot":     {longs: "--userspec --groups", operands: 1, stays: true},
	"nohup":      {},
	"setsid":     {},
	"time":       {letters: "fo", longs: "--format --output"},
	"gtime":      {letters: "fo", longs: "--format --output"},
	"timeout":    {letters: "ks", longs: "--kill-after --signal", operands: 1},
	"gtimeout":   {letters: "ks", longs: "--kill-after --signal", operands: 1},
	"nice":       {letters: "n", longs: "--adjustment"},
	"ionice":     {letters: "cnpPu", longs: "--class --classdata"},
	"chrt":       {operands: 1},
	"taskset":    {operands: 1},
	"stdbuf":     {letters: "ioe", longs: "--input --output --error"},
	"unbuffer":   {},
	"caffeinate": {letters: "tw"},
	"chronic":    {},
	"strace":     {letters: "oePpsSuaIbEX"},
	"ltrace":     {letters: "oepnsuaAFlx"},
	"xvfb-run":   {letters: "nesfpw"},
	"flock":      {letters: "wE", longs: "--timeout --conflict-exit-code", operands: 1},
	"busybox":    {stays: true},
	"toybox":     {stays: true},
	"exec":       {letters: "a", quiet: true},
	"command":    {silent: true, queries: "vV"},
	"builtin":    {silent: true},
	"noglob":     {silent: true, lookup: true},
	"nocorrect":  {silent: true, lookup: true},
	"xargs": {letters: "adEIiLlnPsRSJ", longs: "--arg-file --delimiter --eof --replace --max-lines --max-args --max-procs --max-chars --process-slot-var",
		feeds: "xargs reads further arguments from its input"},
}

// program is an interpreter of a language that is not read.
type program struct {
	code    string // options whose value is code
	module  string // options that name what is run
	values  string // other options that take the next argument
	queries string // options with which nothing is run
}

const versions = "-v -V --version -h --help"

var interpreters = map[string]program{
	"python":     {"-c", "-m", "-W -X --check-hash-based-pycs", versions},
	"pypy":       {"-c", "-m", "-W -X", versions},
	"ipython":    {"-c", "-m", "", versions},
	"node":       {"-e --eval -p --print -pe", "", "-r --require --import --loader --experimental-loader -C --conditions --env-file", versions},
	"nodejs":     {"-e --eval -p --print -pe", "", "-r --require --import --loader -C --conditions", versions},
	"tsx":        {"-e --eval -p --print", "", "-r --require --import --tsconfig", versions},
	"ts-node":    {"-e --eval -p --print", "", "-r --require -P --project", versions},
	"ruby":       {"-e", "", "-r -I -C -E", versions},
	"perl":       {"-e -E", "", "-I", versions},
	"php":        {"-r -B -R -E", "", "-c -d -z", versions + " -i -m"},
	"lua":        {"-e", "", "-l", versions},
	"luajit":     {"-e", "", "-l", versions},
	"Rscript":    {"-e", "", "", versions},
	"R":          {"-e", "", "-f", versions},
	"julia":      {"-e --eval -E --print", "", "-J -L", versions},
	"osascript":  {"-e", "", "-l -s", versions},
	"pwsh":       {"-c -Command -EncodedCommand", "", "", versions},
	"powershell": {"-c -Command -EncodedCommand", "", "", versions},
	"tclsh":      {"", "", "", versions},
	"java":       {"", "-jar", "-cp -classpath --class-path -p --module-path --add-modules", versions + " -version"},
	"expect":     {"-c", "", "-f", versions},
	"groovy":     {"-e", "", "-cp", versions},
	"elixir":     {"-e --eval", "", "-r -S", versions},
	"scala":      {"-e", "", "-cp", versions},
	"swift":      {"-e", "", "", versions},
	"fish":       {"-c --command", "", "", versions},
	"nu":         {"-c --commands", "", "", versions},
	"elvish":     {"-c", "", "", versions},
	"tcsh":       {"-c", "", "", versions},
	"csh":        {"-c", "", "", versions},
}

// utilities are common programs without sub-commands that no other table has.
var utilities = set(`arch basename bc brotli bzip2 cal chattr cksum clear cmake cpio crontab csplit date dc dd df dig dirname
 dmesg du echo ed env ex expr factor false fdfind fd file find free fuser fzf gcc clang cc g++ clang++ ld getconf getent
 gpg gpg2 groups gunzip gzip hexyl host hostname id iptables kill killall last ldd ls eza exa locale locate logger
 logname look lsattr lsblk lscpu lsof man mktemp mount nano nft nproc nslookup numfmt open osascript patch pathchk pbcopy
 pbpaste pgrep ping pkill play printenv printf ps pwd readlink realpath reboot say screen script sed seq sha224sum
 sha384sum shuf shutdown sleep socat sponge ss stat stty su sum sync sysctl test tput tr tree true tsort tty umount uname
 unzip uptime vi vim view nvim emacs vmstat w watch whereis which who whoami whois xclip xdg-open xsel xz yes zip zstd
 7z tar diff3 sdiff ffprobe identify convert magick mogrify pdftotext pdftoppm qpdf sqlite3 psql mysql redis-cli mongosh
 parallel entr expand unexpand nmap mail sendmail rename ar nm objdump ranlib readelf strip lldb gdb`)

// builtins are the commands that a shell runs itself. They touch nothing that
// is not a redirect, except where this package reads them one by one.
var builtins = set(`: [ alias bg bind break caller cd chdir compgen complete compopt continue declare dirs disown echo
 enable eval exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
 pwd read readarray readonly return set shift shopt source . suspend test times trap true type typeset ulimit umask
 unalias unset wait`)

// zshBuiltins are those that other shells do not have.
var zshBuiltins = set(`print whence where autoload zmodload setopt unsetopt emulate integer float vared zparseopts zstyle
 bindkey compdef zle sched rehash disable functions zformat getln limit unlimit ttyctl log`)

// tricks are the options with which a builtin runs code, or changes what a
// name means.
var tricks = map[string]string{
	"hash": "p", "enable": "fn", "bind": "x", "complete": "CF", "compgen": "CF", "mapfile": "C", "readarray": "C", "jobs": "x",
}

// set makes a list of words quick to look up.
func set(list string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		words[word] = true
	}
	return words
}
