// Package net is the host for net.egress: it does one HTTP request, and its
// redirects within the same target, to the host that was approved and to no other
// address than the one it looked at.
//
// # Calls
//
// The target is host, or host:port where the port is not 443. The arguments are
// one JSON object, strict:
//
//	url         https://, or http:// where the target has a port; what stands
//	            between // and the next / is the target, letter by letter
//	method      GET (default), HEAD, POST, PUT, PATCH or DELETE
//	headers     {name: value}, at most 32 and 8 KiB
//	body        or bodyBase64, not with GET and HEAD
//
// So a host has one spelling: that of targets. Addresses written as numbers, in
// hexadecimal or octal, names that are not ASCII, dots at the end, user names,
// zones, backslashes and escapes in the host are refused with host-spelling. A port
// is written where a target writes it; http without one means port 80. There is
// no fragment. Headers that say where the request goes, how long it is or what
// becomes of the connection are refused.
//
// # What is told
//
//	status, finalUrl, headers   a few of them
//	content, or base64          if it is not text
//	truncated                   the body was longer than [Limits].Body
//	note                        what else there is to know
//
// Nothing is unpacked: no encoding is asked for, and what comes encoded
// nevertheless is told as it came. Cookies are neither told nor kept.
//
// # Where it goes
//
// Nothing leaves before the permit, not even the question for an address. Then
// the name is resolved once for each connection, as a full name without search
// domains, every address is looked at, and if one of them is refused all are
// (address-refused). The connection is made to an address that was looked at.
//
//	refused always         link-local addresses, and so the metadata of clouds, which have
//	                       others too: fd00:ec2::254, 168.63.129.16; 100.64.0.0/10; unspecified,
//	                       multicast, broadcast, documentation, benchmarks and other special
//	                       purposes (RFC 6890); IPv6 that holds IPv4 (compatible, NAT64, 6to4,
//	                       Teredo); addresses with a zone; IPv6 outside of 2000::/3
//	refused always         whatever has the port of a listener of this runtime and is an
//	                       address of this machine
//	refused unless private loopback, RFC 1918, unique local: where [Options].Private says so
//
// An IPv4 address in IPv6 form is what it is in IPv4: resolvers give them so.
//
// A redirect of GET or HEAD is followed up to 5 times if it leads to the same
// target, with a connection of its own. Others are told, with their location:
// another host is another call.
//
// There is no proxy, no setting from the environment, no HTTP/2, no second use of a
// connection and no second try. TLS is 1.2 or newer, with the system's roots.
//
// # Without a call
//
// A [Way] leads a program of the operator's own, never an agent, to one host: it
// needs a grant and a label as a call does, and goes to the same addresses by the
// same transport. It has no permit and no record, it follows no redirect, and its
// user bounds what is read.
//
// # What this cannot see
//
// A server that was approved may do as it likes with what it gets, pass it on, and
// answer what it likes. An address outside that leads back to this machine, such as
// through a router, is an address outside.
package net
