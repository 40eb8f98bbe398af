#!/usr/bin/env node
// Checks the test vectors without the Go implementation: node vectors/check.mjs
// [DIRECTORY]. Needs Node 18 and nothing else. README.md says what the files
// mean. Exits 1 if a vector does not come out as its header says, if a family
// or kind is unknown, if a family is empty, or if one of the planted errors is
// not noticed.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Refusal, array, canonical, object, parse, string, transform } from './check-json.mjs'
import { covers, parseGrant, parseList, parseTarget } from './check-grant.mjs'
import { fingerprint, readKey } from './check-key.mjs'
import { checkLog, checkReceipt } from './check-log.mjs'
import { checkScheme, fromParts, fromText, join, lessEq, scheme, schemeDigest, toText } from './check-label.mjs'
import { checkDirectory, checkSignature, contentList, contentRoot, file, parseManifest, parts } from './check-skill.mjs'
import { narrow, open, resolve } from './check-trust.mjs'
import { checkVerdict } from './check-verdict.mjs'

// A runner takes the payload, and the header through get. It returns the token
// with what the header has to say besides, or throws a Refusal.

const ok = derived => ({ token: 'ok', derived })
const plain = map => Object.fromEntries([...map].map(([k, v]) => [k, v]))
const pair = payload => payload.toString('latin1').split('\n')
const number = value => (value === undefined ? undefined : Number(value))

const runners = {
  canonical: {
    '': (payload, get) => ok({
      canonical: transform(payload, { limitBytes: number(get('limit-bytes')), limitDepth: number(get('limit-depth')) }),
    }),
  },
  labels: {
    parse: (payload, get) => ok({ parts: canonical(fromText(scheme(get('scheme')), payload.toString('latin1'))) }),
    parts(payload, get) {
      const s = scheme(get('scheme'))
      return ok({ text: toText(s, fromParts(s, plain(parse(payload, { shape: parts })))) })
    },
    order(payload, get) {
      const s = scheme(get('scheme'))
      const [a, b] = pair(payload).map(text => fromText(s, text))
      return { token: lessEq(s, a, b) ? 'yes' : 'no' }
    },
    join(payload, get) {
      const s = scheme(get('scheme'))
      const [a, b] = pair(payload).map(text => fromText(s, text))
      return ok({ join: toText(s, join(s, a, b)) })
    },
    scheme(payload) {
      const shape = object({ name: string, ranks: array(string), compartments: array(string), releasable: array(string) })
      return ok({ digest: schemeDigest(checkScheme(plain(parse(payload, { shape })))) })
    },
  },
  grants: {
    grant: payload => ok(void parseGrant(payload)),
    target: payload => ok(void parseTarget(payload)),
    list: payload => ok(void parseList(parse(payload, { shape: array(string) }))),
    covers(payload) {
      const [grant, target] = payload.toString('utf8').split('\n').map(text => Buffer.from(text))
      return { token: covers(parseGrant(grant), parseTarget(target)) ? 'covers' : 'outside' }
    },
  },
  manifests: {
    '': (payload, get) => ok({ canonical: canonical(parseManifest(payload, scheme(get('scheme')))) }),
  },
  content: {
    '': payload => {
      const list = contentList(parse(payload, { shape: array(file) }).map(plain))
      return ok({ root: contentRoot(list), list: canonical(list) })
    },
  },
  signatures: {
    key: payload => ok({ fingerprint: fingerprint(readKey(payload.toString('latin1'))) }),
    signature: payload => ok({ subject: checkSignature(plain(parse(payload))) }),
    directory(payload) {
      const shape = object({ files: array(file), manifest: string, publicKey: string, signature: string }, 'manifest', 'signature')
      const p = plain(parse(payload, { shape }))
      return ok(checkDirectory({ ...p, files: p.files.map(plain) }))
    },
  },
  trust: {
    chain: (payload, get) => opened(open(lines(payload), get('pin'))),
    narrow(payload) {
      const all = lines(payload)
      return opened(narrow(open(all.slice(0, -1)), all.at(-1)))
    },
    signer: (payload, get) => ok(void resolve(open(lines(payload)), get('signer'), get('at'))),
  },
  logs: {
    log: (payload, get) => ok(checkLog([{ name: firstSegment, bytes: payload.length > 0 ? ended(payload) : payload }], expectedOf(get))),
    bytes: (payload, get) => ok(checkLog([{ name: firstSegment, bytes: payload }], expectedOf(get))),
    segments(payload, get) {
      const list = parse(payload, { shape: array(object({ lines: array(string), name: string })) }).map(plain)
      return ok(checkLog(list.map(({ lines, name }) => ({ name, bytes: Buffer.from([...lines, ''].join('\n')) })), expectedOf(get)))
    },
    receipt: (payload, get) => ok(checkReceipt(ended(payload).toString('utf8'), { origin: get('origin'), key: get('key') })),
  },
  verdicts: {
    '': (payload, get) => checkVerdict(lines(payload), get('guarded').split(' ')),
  },
}

/** The families that want more than node has: policies are Cedar. */
const left = ['policy']

const firstSegment = `${'0'.repeat(20)}.jsonl`
const ended = payload => Buffer.concat([payload, Buffer.from('\n')])
const expectedOf = get => ({ origin: get('origin'), key: get('key'), anchor: get('anchor') })

/** The families in which a refusal by the JSON parser has its place. */
const placed = ['canonical', 'manifests']

const opened = ({ document, digest }) => ok({ version: String(document.get('version')), digest })

function lines(payload) {
  if (payload.length === 0) return []
  const out = []
  let from = 0
  for (let end; (end = payload.indexOf(0x0a, from)) >= 0; from = end + 1) out.push(payload.subarray(from, end))
  return [...out, payload.subarray(from)]
}

/** read parses the file format. */
function read(bytes) {
  const end = bytes.indexOf('\n\n')
  if (end < 0 || bytes.at(-1) !== 0x0a || end + 2 >= bytes.length) throw new Error('not a vector file')
  const header = new Map()
  for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) {
    const [, key, value] = /^([a-z]+(?:-[a-z]+)*): ([^]+)$/.exec(line) ?? []
    if (key === undefined || header.has(key)) throw new Error(`header line ${JSON.stringify(line)}`)
    header.set(key, value)
  }
  if (!header.has('expect') || !header.has('comment')) throw new Error('expect and comment are mandatory')
  const payload = bytes.subarray(end + 2, -1)
  return { header, payload: decoded(payload, header.get('encoding')) }
}

function decoded(payload, encoding) {
  if (encoding === undefined) return payload
  const text = payload.toString('latin1')
  if (encoding !== 'hex' || !/^(?:[0-9a-f]{2})*$/.test(text)) throw new Error('unknown encoding')
  return Buffer.from(text, 'hex')
}

/** run returns what came of a vector and which lines of the header it asked for. */
function run(family, { header, payload }) {
  const asked = new Set(['expect', 'comment', 'encoding'])
  const get = key => {
    asked.add(key)
    return header.get(key)
  }
  const runner = runners[family]?.[runners[family][''] ? '' : get('kind')]
  if (!runner) throw new Error('unknown family or kind')
  try {
    return { asked, derived: {}, ...runner(payload, get) }
  } catch (err) {
    if (!(err instanceof Refusal)) throw err
    const derived = {}
    if (err.offset !== undefined && placed.includes(family)) derived.offset = String(err.offset)
    if (err.canonical !== undefined) derived.canonical = err.canonical
    if (err.record !== undefined) derived.record = String(err.record)
    return { asked, token: err.token, derived }
  }
}

/** compare returns what is wrong with the header, undefined if nothing is. */
function compare(header, { token, derived = {}, asked }) {
  if (header.get('expect') !== token) return `${token}, want ${header.get('expect')}`
  for (const key of header.keys()) {
    if (!asked.has(key) && derived[key] === undefined) return `nothing answers to the header ${key}`
  }
  for (const [key, value] of Object.entries(derived)) {
    if (header.get(key) !== value) return `${key} is ${value}, want ${header.get(key)}`
  }
  return undefined
}

/** planted counts the errors that were planted in the header and not noticed. */
function planted(vector, outcome) {
  let missed = 0
  for (const key of vector.header.keys()) {
    if (key !== 'expect' && outcome.asked.has(key)) continue
    const header = new Map(vector.header).set(key, 'planted-bug')
    if (compare(header, outcome) === undefined) missed++
    counts.planted++
  }
  return missed
}

const counts = { failed: 0, planted: 0 }

function fail(name, why) {
  counts.failed++
  console.error(`FAIL ${name}: ${why}`)
}

function checkFile(root, family, name) {
  try {
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*\.txt$/.test(name)) throw new Error('not the name of a vector')
    const vector = read(readFileSync(joinPath(root, family, name)))
    const outcome = run(family, vector)
    const problem = compare(vector.header, outcome)
    if (problem !== undefined) return fail(`${family}/${name}`, problem)
    if (planted(vector, outcome) > 0) return fail(`${family}/${name}`, 'a planted error was not noticed')
    return true
  } catch (err) {
    return fail(`${family}/${name}`, err.stack)
  }
}

function main(root) {
  const directories = readdirSync(root).filter(d => d !== 'gen' && statSync(joinPath(root, d)).isDirectory())
  for (const d of directories) if (!runners[d] && !left.includes(d)) fail(d, 'unknown family')
  const passed = []
  for (const family of Object.keys(runners)) {
    const names = existsSync(joinPath(root, family)) ? readdirSync(joinPath(root, family)).sort() : []
    if (names.length === 0) fail(family, 'no vectors')
    passed.push(`${family} ${names.filter(name => checkFile(root, family, name)).length}`)
  }
  console.log(`vectors passed: ${passed.join(', ')}; not run: ${left.join(', ')}; planted errors noticed: ${counts.planted}; failed: ${counts.failed}`)
  return counts.failed === 0 ? 0 : 1
}

process.exitCode = main(process.argv[2] ?? dirname(fileURLToPath(import.meta.url)))
