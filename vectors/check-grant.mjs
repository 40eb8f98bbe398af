// Grants: the vocabulary, the one spelling of each argument, what it covers.
//
// In a pattern a NUL stands for *, because no text holds one, and MORE is the
// segment or argument **. Lists are matched by table, not by search.

import { Refusal } from './check-json.mjs'
import { hidden } from './check-text.mjs'

const RUN = '\0'
const MORE = Symbol('**')

class Wrong extends Error {}
const wrong = why => { throw new Wrong(why) }
const size = items => Buffer.byteLength(items.map(i => (i === MORE ? RUN : i)).join('/'))

const vocabulary = new Map([
  ['net.egress', 'host'], ['fs.read', 'path'], ['fs.write.rev', 'path'], ['fs.write.irrev', 'path'], ['tool.invoke', 'name'],
  ['spawn.proc', 'argv'], ['publish', 'name'], ['pay', 'amount'], ['mutate.schema', 'name'],
])

/** parseGrant reads the one spelling of a grant, from bytes. */
export function parseGrant(bytes) {
  if (bytes.length > 1024) throw new Refusal('pattern-too-long')
  const text = visible(bytes, 'pattern-invalid')
  const open = text.indexOf('(')
  const token = open < 0 ? text : text.slice(0, open)
  const shape = vocabulary.get(token)
  if (!shape) throw new Refusal('capability-unknown')
  if (open < 0) return { token, shape }
  const argument = text.slice(open + 1, -1)
  if (!text.endsWith(')') || argument === '') throw new Refusal('pattern-invalid')
  const value = read(shape, argument, 'pattern-invalid')
  const spelling = `${token}(${shapes[shape].write(value)})`
  if (spelling === text) return { token, shape, value }
  if (Buffer.byteLength(spelling) > 1024) throw new Refusal('pattern-too-long')
  throw notCanonical('grant-not-canonical', spelling)
}

/** parseTarget reads the notation token(target), from bytes. */
export function parseTarget(bytes) {
  const open = bytes.indexOf('(')
  const token = bytes.subarray(0, open < 0 ? bytes.length : open).toString('latin1')
  const shape = vocabulary.get(token)
  if (!shape) throw new Refusal('capability-unknown')
  const argument = open < 0 ? '' : visible(bytes.subarray(open + 1), 'target-invalid').replace(/\)$/, '')
  const value = read(shape, argument, 'target-invalid')
  if (isPattern(value)) throw new Refusal('target-invalid')
  const spelling = shapes[shape].write(value)
  if (spelling !== argument) throw notCanonical('target-not-canonical', spelling)
  return { token, shape, value }
}

/** parseList checks the grants of a manifest. */
export function parseList(texts) {
  if (texts.length > 256) throw new Refusal('grants-too-many')
  texts.forEach((text, i) => {
    try {
      parseGrant(Buffer.from(text))
    } catch (err) {
      throw err instanceof Refusal ? new Refusal(err.token) : err
    }
    const order = i === 0 ? -1 : Buffer.compare(Buffer.from(texts[i - 1]), Buffer.from(text))
    if (order === 0) throw new Refusal('grant-duplicate')
    if (order > 0) throw new Refusal('grants-unsorted')
  })
}

/** covers: the target is of the grant's class and one that its argument matches. */
export const covers = (grant, target) =>
  grant.token === target.token && grant.value !== undefined && shapes[grant.shape].covers(grant.value, target.value)

function visible(bytes, token) {
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes) || hidden.test(text)) throw new Refusal(token)
  return text
}

const isPattern = value =>
  value === MORE || (typeof value === 'string' ? value.includes(RUN) : Object.values(value).some(isPattern))

function notCanonical(token, spelling) {
  return Object.assign(new Refusal(token), { canonical: spelling })
}

function read(shape, argument, token) {
  try {
    return shapes[shape].read(argument)
  } catch (err) {
    if (err instanceof Wrong) throw new Refusal(token)
    throw err
  }
}

// Text of segments, names and arguments.

const unescape = (text, escapes) => resolve(text, escapes).replace(/\0+/g, RUN)

const resolve = (text, escapes) => text.replace(/\*+|\\(u\{[0-9a-fA-F]{0,6}\}|[^])|\\$/g, (found, escaped) => {
  if (found[0] === '*') return RUN
  if (escaped === undefined || !escapes.includes(escaped[0])) return wrong('escape')
  if (escaped.length === 1) return escaped === 'u' ? wrong('code point') : escaped
  if (escaped === 'u{}') return ''
  const code = parseInt(escaped.slice(2, -1), 16)
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? wrong('code point') : String.fromCodePoint(code)
})

const escape = (text, escapes) => (text === MORE ? '**' : [...text].map(c => {
  if (c === RUN) return '*'
  if (c !== 'u' && escapes.includes(c)) return `\\${c}`
  const invisible = hidden.test(c) || /\p{Zs}/u.test(c)
  return invisible && escapes.includes('u') ? `\\u{${c.codePointAt(0).toString(16)}}` : c
}).join(''))

/** runMatches: text is pattern with each RUN replaced by something. */
function runMatches(pattern, text) {
  const literal = pattern.split(RUN).map(piece => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  return new RegExp(`^${literal.join('[^]*')}$`).test(text)
}

/** listMatches by table: cell (i, j) says whether the first i patterns match the first j items. */
function listMatches(patterns, items, atLeastAtEnd) {
  const row = () => new Array(items.length + 1).fill(false)
  let before = row()
  before[0] = true
  patterns.forEach((pattern, i) => {
    const now = row()
    const last = i === patterns.length - 1
    for (let j = 0; j <= items.length; j++) {
      if (pattern !== MORE) now[j] = j > 0 && before[j - 1] && runMatches(pattern, items[j - 1])
      else if (last && atLeastAtEnd) now[j] = before.slice(0, j).includes(true)
      else now[j] = before.slice(0, j + 1).includes(true)
    }
    before = now
  })
  return before[items.length]
}

// The five shapes: read gives a value, write its one spelling.

const shapes = {
  path: {
    read(text) {
      const [first] = text.split('/')
      const colon = first.indexOf(':')
      const corpus = colon < 0 ? 'work' : first.slice(0, colon)
      if (!/^[a-z0-9-]{1,32}$/.test(corpus)) wrong('corpus')
      const path = text.slice(colon + 1)
      if (path === '.') return { corpus, segments: [] }
      const segments = path.split('/').map(readSegment)
      if (segments.length > 128) wrong('segments')
      const tidy = tidied(segments)
      if (size(tidy) > 4096) wrong('long')
      return { corpus, segments: tidy }
    },
    write({ corpus, segments }) {
      const path = segments.length ? segments.map(s => escape(s, '*\\')).join('/') : '.'
      return corpus === 'work' && !path.split('/')[0].includes(':') ? path : `${corpus}:${path}`
    },
    covers: (grant, target) => grant.corpus === target.corpus &&
      (grant.segments.length === 0 || target.segments.length === 0
        ? grant.segments.length === target.segments.length
        : listMatches(grant.segments, target.segments, true)),
  },

  host: {
    read(text) {
      const [, host, port = '443'] = /^(\[[^\]]*\]|[^:[][^:]*)(?::([^:]*))?$/.exec(text) ?? wrong('host')
      if (port !== '*' && (!/^\d+$/.test(port) || BigInt(port) < 1n || BigInt(port) > 65535n)) wrong('port')
      return { host: readHost(host), port: port === '*' ? RUN : String(BigInt(port)) }
    },
    write: ({ host, port }) => host.replace(RUN, '*') + (port === '443' ? '' : `:${port === RUN ? '*' : port}`),
    covers(grant, target) {
      if (grant.port !== RUN && grant.port !== target.port) return false
      return grant.host.startsWith(RUN) ? target.host.endsWith(grant.host.slice(1)) : grant.host === target.host
    },
  },

  name: {
    read(text) {
      const name = unescape(text, '*\\')
      if (name === '' || size([name]) > 512 || /^ | $/.test(name) || name.slice(0, -1).includes(RUN)) wrong('name')
      return name
    },
    write: name => escape(name, '*\\'),
    covers: runMatches,
  },

  argv: {
    read(text) {
      const args = split(text).map(readArgument)
      if (args.slice(0, -1).includes(MORE)) wrong('** before the end')
      if (['', RUN, MORE].includes(args[0])) wrong('program')
      if (size(args) > 128 << 10) wrong('long')
      return args
    },
    write: args => args.map(a => (a === '' ? '\\u{}' : escape(a, '* \\u'))).join(' '),
    covers: (grant, target) => listMatches(grant, target, false),
  },

  amount: {
    read(text) {
      const comma = text.indexOf(',')
      if (comma < 0) wrong('comma')
      const unit = trim(text.slice(0, comma)).replace(/[A-Z]/g, c => c.toLowerCase())
      const amount = /^(\d+)(?:\.(\d+))?$/.exec(trim(text.slice(comma + 1)))
      if (!/^[a-z0-9.:/_-]{1,64}$/.test(unit) || !amount) wrong('amount')
      const whole = amount[1].replace(/^0+/, '')
      const fraction = (amount[2] ?? '').replace(/0+$/, '')
      if (whole.length > 78 || fraction.length > 78) wrong('digits')
      return { unit, whole: whole || '0', fraction }
    },
    write: ({ unit, whole, fraction }) => `${unit},${whole}${fraction && `.${fraction}`}`,
    covers: (grant, target) => grant.unit === target.unit && units(target) <= units(grant),
  },
}

const trim = text => text.replace(/^ +| +$/g, '')

/** units is an amount as a whole number of the smallest unit there is. */
const units = ({ whole, fraction }) => BigInt(whole + fraction.padEnd(78, '0'))

function readSegment(text) {
  if (text === '' || text === '.' || text === '..') wrong('segment')
  if (text === '**') return MORE
  const segment = unescape(text, '*\\')
  return /[. ]$/.test(segment) ? wrong('end of segment') : segment
}

/** tidied: in a run of wildcards each * stands before the one **; at the end ** is one * already. */
function tidied(segments) {
  const out = []
  for (let i = 0; i < segments.length;) {
    let end = i
    while (end < segments.length && (segments[end] === RUN || segments[end] === MORE)) end++
    const run = segments.slice(i, end)
    if (run.includes(MORE)) {
      const singles = run.filter(s => s === RUN)
      if (end === segments.length && run.at(-1) === RUN) singles.pop()
      out.push(...singles, MORE)
    } else {
      out.push(...run)
    }
    if (end < segments.length) out.push(segments[end])
    i = end + 1
  }
  return out
}

/** split at the spaces that have no backslash before them. */
function split(text) {
  const out = ['']
  for (let i = 0; i < text.length; i++) {
    if (text[i] === ' ') out.push('')
    else out[out.length - 1] += text[i] === '\\' ? text[i] + (text[++i] ?? '') : text[i]
  }
  return out
}

function readArgument(text) {
  if (text === '') return wrong('empty argument')
  return text === '**' ? MORE : unescape(text, '* \\u')
}

function readHost(text) {
  if (text.startsWith('[')) return `[${readIPv6(text.slice(1, -1))}]`
  const host = text.replace(/[A-Z]/g, c => c.toLowerCase())
  const wildcard = host.startsWith('*.')
  const name = wildcard ? host.slice(2) : host
  const labels = name.split('.')
  if (host.length > 253 || !labels.every(l => l.length <= 63 && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(l))) wrong('host')
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1))) {
    if (wildcard || labels.length !== 4 || !labels.every(l => /^(?:0|[1-9]\d{0,2})$/.test(l) && Number(l) < 256)) wrong('address')
  }
  return wildcard ? `${RUN}.${name}` : name
}

/** readIPv6 gives the text of RFC 5952. */
function readIPv6(text) {
  let groups = text
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  if (dotted) {
    const bytes = dotted.slice(2)
    if (!bytes.every(b => /^(?:0|[1-9]\d{0,2})$/.test(b) && Number(b) < 256)) wrong('address')
    const [a, b, c, d] = bytes.map(Number)
    groups = `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  }
  const halves = groups.split('::')
  if (halves.length > 2) wrong('address')
  const [left, right = []] = halves.map(half => (half === '' ? [] : half.split(':')))
  const missing = 8 - left.length - right.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) wrong('address')
  const all = [...left, ...new Array(missing).fill('0'), ...right]
  if (!all.every(g => /^[0-9a-fA-F]{1,4}$/.test(g))) wrong('address')
  const numbers = all.map(g => parseInt(g, 16))
  if (numbers.slice(0, 5).every(n => n === 0) && numbers[5] === 0xffff) wrong('IPv4 in IPv6')
  return shorten(numbers.map(n => n.toString(16)))
}

/** shorten puts :: for the first of the longest runs of two zeros or more. */
function shorten(groups) {
  let best = { at: 0, length: 1 }
  for (let at = 0; at < 8; at++) {
    let length = 0
    while (groups[at + length] === '0') length++
    if (length > best.length) best = { at, length }
  }
  if (best.length < 2) return groups.join(':')
  return `${groups.slice(0, best.at).join(':')}::${groups.slice(best.at + best.length).join(':')}`
}
