package shellread

import (
	"slices"
	"strings"
	"testing"
)

// only keeps the proposals of some classes.
func only(classes ...string) func(string) []Proposal {
	return func(source string) []Proposal {
		return slices.DeleteFunc(body(source), func(p Proposal) bool {
			class, _, _ := strings.Cut(p.Grant, "(")
			return !slices.Contains(classes, class)
		})
	}
}

func TestRedirects(t *testing.T) {
	check(t, []readingCase{
		{": > a >> b >| c &> d &>> e <> f", "1 fs.read(f) | 1 fs.write.irrev(a) | 1 fs.write.irrev(b) | 1 fs.write.irrev(c) | 1 fs.write.irrev(d) | 1 fs.write.irrev(e) | 1 fs.write.irrev(f)"},
		{": 2>&1 >&2 3>&- 4<&0 > /dev/null 2> /dev/stderr < /dev/null > /dev/fd/3", ""},
		{": >& a", "1 fs.write.irrev(a)"},
		{": >& $x", "1 fs.write.irrev?"},
		{"exec 3> a {fd}> b", "1 fs.write.irrev(a) | 1 fs.write.irrev(b)"},
		{"{ :; } > a; (:) > b; if :; then :; fi > c; f() { :; } > d", "1 fs.write.irrev(a) | 1 fs.write.irrev(b) | 1 fs.write.irrev(c) | 1 fs.write.irrev(d)"},
		{": < a", "1 fs.read(a)"},
		{": > a/../b", "1 fs.write.irrev(b)"},
		{": > ../a", "1 fs.write.irrev?"},
		{": > /tmp/a", "1 fs.write.irrev?"},
		{": > ~/a", "1 fs.write.irrev?"},
		{": > $HOME/a", "1 fs.write.irrev?"},
		{": > $PWD/a", "1 fs.write.irrev(a)"},
		{": > ${PWD}a", "1 fs.write.irrev?"},
		{": > \"$(pwd)/a\"", "1 fs.write.irrev(a)"},
		{": > \"a$x\"", "1 fs.write.irrev?"},
		{": > 'a*b' > 'c\\d' > 'e f'", "1 fs.write.irrev(a\\*b) | 1 fs.write.irrev(c\\\\d) | 1 fs.write.irrev(e f)"},
		{": > a:b", "1 fs.write.irrev(work:a:b)"},
		{": > 'a.'", "1 fs.write.irrev?"}, // has no spelling
		{": > ''", "1 fs.write.irrev?"},
		{": > {a,b}", "1 fs.write.irrev?"},
		{"cat <<E > a\n$(: > b)\nE", "1 fs.write.irrev(a) | 2 fs.write.irrev(b)"},
		{"cat <<'E' > a\n$(: > b)\nE", "1 fs.write.irrev(a)"},
		{": > >(cat > a)", "1 fs.write.irrev(a)"},
	}, only("fs.read", "fs.write.irrev"))
}

func TestFiles(t *testing.T) {
	check(t, []readingCase{
		{"rm -f a b", "1 fs.write.irrev(a) | 1 fs.write.irrev(b)"},
		{"rm -rf a", "1 fs.write.irrev(a) | 1 fs.write.irrev(a/**)"},
		{"rm -rf .", "1 fs.write.irrev(**)"},
		{"rm -rf -- -a", "1 fs.write.irrev(-a) | 1 fs.write.irrev(-a/**)"},
		{"rm *.o b/[xy]?", "1 fs.write.irrev(*.o) | 1 fs.write.irrev(b/**)"},
		{"rm $x", "1 fs.write.irrev?"},
		{"rm a{1,2}", "1 fs.write.irrev(a1) | 1 fs.write.irrev(a2)"},
		{"rm a{1..3}", "1 fs.write.irrev?"},
		{"mkdir -p -m 700 a/b", "1 fs.write.irrev(a/b)"},
		{"touch -d now a", "1 fs.write.irrev(a)"},
		{"chmod +x a", "1 fs.write.irrev(a)"},
		{"tee -a a b < c", "1 fs.read(c) | 1 fs.write.irrev(a) | 1 fs.write.irrev(b)"},
		{"cp a b", "1 fs.read(a) | 1 fs.write.irrev(b)"},
		{"cp a b c/", "1 fs.read(a) | 1 fs.read(b) | 1 fs.write.irrev(c/a) | 1 fs.write.irrev(c/b)"},
		{"cp -t c a $b", "1 fs.read? | 1 fs.read(a) | 1 fs.write.irrev(c/*) | 1 fs.write.irrev(c/a)"},
		{"cp -r a b", "1 fs.read(a) | 1 fs.read(a/**) | 1 fs.write.irrev(b) | 1 fs.write.irrev(b/**)"},
		{"mv a b", "1 fs.read(a) | 1 fs.write.irrev(a) | 1 fs.write.irrev(b)"},
		{"ln -s /x a", "1 fs.write.irrev(a)"},
		{"sed -e s/a/b/ f", "1 fs.read(f)"},
		{"sed -i.bak s/a/b/ f", "1 fs.read(f) | 1 fs.write.irrev(f)"},
		{"sed -i '' s/a/b/ f", "1 fs.read(f) | 1 fs.read(s/a/b) | 1 fs.write.irrev(f) | 1 fs.write.irrev(s/a/b)"}, // of BSD: too much rather than too little
		{"grep -A 3 pat f", "1 fs.read(f)"},
		{"grep -e pat f", "1 fs.read(f)"},
		{"grep -r pat d", "1 fs.read(d) | 1 fs.read(d/**)"},
		{"rg pat", "1 fs.read(**)"},
		{"sort -o a b", "1 fs.read(b) | 1 fs.write.irrev(a)"},
		{"dd if=a of=b bs=1", "1 fs.read(a) | 1 fs.write.irrev(b)"},
		{"curl -o a http://x.io; curl -O http://x.io/y; wget -qO- http://x.io", "1 fs.write.irrev? | 1 fs.write.irrev(a)"},
		{"tar xf a; mktemp", "1 fs.read? | 1 fs.write.irrev?"},
		{"find a -delete", "1 fs.write.irrev?"},
		{"cat a - /dev/stdin", "1 fs.read(a)"},
		{"diff <(a) b", "1 fs.read(b)"},
	}, func(s string) []Proposal { return only("fs.read", "fs.write.irrev")(s) })
}

func TestDirectory(t *testing.T) {
	check(t, []readingCase{
		{"set -e\ncd a\n: > b", "3 fs.write.irrev(a/b)"},
		{"cd a\n: > b", "2 fs.write.irrev?"},
		{"cd a || exit 1\n: > b", "2 fs.write.irrev(a/b)"},
		{"cd a || { echo; exit 1; }\n: > b", "2 fs.write.irrev(a/b)"},
		{"cd a || : > b", "1 fs.write.irrev(b)"},
		{"cd a || true\n: > b", "2 fs.write.irrev?"},
		{"cd a && : > b\n: > c", "1 fs.write.irrev(a/b) | 2 fs.write.irrev?"},
		{"(cd a && : > b)\n: > c", "1 fs.write.irrev(a/b) | 2 fs.write.irrev(c)"},
		{"mkdir a && cd a && : > b", "1 fs.write.irrev(a) | 1 fs.write.irrev(a/b)"},
		{"set -euo pipefail\ncd a\ncd ..\n: > b", "4 fs.write.irrev(b)"},
		{"set -e\ncd ..\n: > b", "3 fs.write.irrev?"},
		{"set -e\ncd $x\n: > b", "3 fs.write.irrev?"},
		{"set -e\ncd\n: > b", "3 fs.write.irrev?"},
		{"set -e\ncd -\n: > b", "3 fs.write.irrev?"},
		{"set -e\nset +e\ncd a\n: > b", "4 fs.write.irrev?"},
		{"set -e\nx=$(cd a; : > b)\n: > c", "2 fs.write.irrev? | 3 fs.write.irrev(c)"},
		{"set -e\nif :; then cd a; fi\n: > b", "3 fs.write.irrev?"},
		{"set -e\nfor i in 1 2; do : > b; cd a; done", "2 fs.write.irrev?"},
		{"set -e\nf() { cd a; }\nf\n: > b", "4 fs.write.irrev?"},
		{"set -e\ncd a | :\n: > b", "3 fs.write.irrev(b)"},
		{"set -e\nCDPATH=x\ncd a\n: > b", "4 fs.write.irrev?"},
		{"set -e\neval 'cd a'\n: > b", "3 fs.write.irrev(a/b)"},
		{"set -e\nCDPATH=x\neval 'cd a; : > b'", "3 fs.write.irrev?"},
		{"set -e\nf() { cd a; }\neval f\n: > b", "4 fs.write.irrev?"},
		{"set -e\nf() { cd a; }\neval 'f; : > b'", "3 fs.write.irrev?"},
		{"eval \"$x\"\n: > b", "2 fs.write.irrev?"},
		{"$x\n: > b", "2 fs.write.irrev?"},
		{"\"$D/x\"\n: > b", "2 fs.write.irrev(b)"},
		{". ./x\n: > b", "2 fs.write.irrev?"},
		{"f() { : > b; }\nf", "1 fs.write.irrev(b)"},
		{"f() { : > b; }\nset -e\ncd a\nf", "1 fs.write.irrev?"},
		{"trap ': > b' EXIT", "1 fs.write.irrev(b)"},
	}, only("fs.write.irrev"))
}

func TestHosts(t *testing.T) {
	check(t, []readingCase{
		{"curl https://a.io/x", "1 net.egress(a.io)"},
		{"curl -X POST -H 'A: b' http://A.io:8080/$x", "1 net.egress(a.io:8080)"},
		{"curl a.io", "1 net.egress(a.io:80)"},
		{"curl --url https://a.io https://b.io", "1 net.egress(a.io) | 1 net.egress(b.io)"},
		{"curl https://u:p@a.io", "1 net.egress(a.io)"},
		{"curl https://a.io@b.io/", "1 net.egress(b.io)"},
		{"curl 'https://a.io\\@b.io'", "1 net.egress?"},
		{"curl 'https://{a,b}.io'", "1 net.egress?"},
		{"curl https://$x/", "1 net.egress?"},
		{"curl https://a.io$x", "1 net.egress?"},
		{"curl https://a.$x/", "1 net.egress?"},
		{"curl -x p:1 https://a.io", "1 net.egress? | 1 net.egress(a.io)"},
		{"curl -K conf", "1 net.egress?"},
		{"curl --version", ""},
		{"curl https://127.1/ https://2130706433/", "1 net.egress?"},
		{"curl 'https://[::1]:80/'", "1 net.egress([::1]:80)"},
		{"curl https://ex\u00e4mple.io/", "1 net.egress?"},
		{"curl https://a.io./", "1 net.egress(a.io)"},
		{"B=https://a.io; curl \"$B/x\"", "1 net.egress(a.io)"},
		{"wget -q https://a.io/x", "1 net.egress(a.io)"},
		{"ssh -p 2222 u@a.io 'rm x'", "1 net.egress(a.io:2222)"},
		{"ssh -o ProxyCommand=x a.io", "1 net.egress? | 1 net.egress(a.io:22)"},
		{"scp a u@b.io:/c", "1 net.egress(b.io:22)"},
		{"rsync -a a/ b.io:c", "1 net.egress(b.io:22)"},
		{"nc a.io 25", "1 net.egress(a.io:25)"},
		{"nc -l 25", "1 net.egress?"},
		{"git clone https://a.io/b", "1 net.egress(a.io)"},
		{"git clone git@a.io:b/c", "1 net.egress(a.io:22)"},
		{"git clone \"$x\"", "1 net.egress?"},
		{"git push", "1 net.egress?"},
		{"git status", ""},
		{"gh pr list", "1 net.egress?"},
		{"npm ci; npm test", "1 net.egress?"},
		{"npm test", ""},
		{"exec 3<>/dev/tcp/a.io/80", "1 net.egress(a.io:80)"},
		{"echo > /dev/udp/$x/53", "1 net.egress?"},
	}, only("net.egress"))
}
