// Logs: lines in one spelling, in a chain and a tree, with signed checkpoints,
// and the state that they are folded to. Written from docs/log-format.md.

import { createHash } from 'node:crypto'
import { Refusal, canonical, parse } from './check-json.mjs'
import { readKey, readSignature, verifies } from './check-key.mjs'
import { State } from './check-state.mjs'

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts.map(p => Buffer.from(p)))).digest()
const leafHash = line => sha256([0], line)
const node = (left, right) => sha256([1], left, right)

/** The fields of each kind's body; those with a question mark may be left out. */
const request = 'agent capability effect envelope guarded? key? level mark payload? plan rest? sink? skill? target'
const decision = 'approver? batch? broker cause choice envelope expires? nonce? passed? profile reason? rule? sameUid signature? view?'
const intent = 'attempt envelope fence key plan rest? staging?'
const outcome = 'detail? envelope readings reason? rest? result?'
const kinds = {
  init: 'logKey operator origin profile root scheme trustDigest',
  'key.created': 'fingerprint name protected',
  'key.rotated': 'epoch new newSignature old oldSignature',
  'trust.changed': 'added digest revoked version',
  'skill.adopted': 'directory replaced skill',
  'skill.signed': 'directory skill',
  'skill.loaded': 'directory skill',
  'skill.refused': 'directory reason step where',
  'skill.evicted': 'reason skill',
  revocation: 'cancelled digest evicted generation signer version',
  boot: 'config fence pid policy? profile sameUid trustDigest trustVersion version',
  lock: 'skills trustDigest trustVersion',
  session: 'agent detail? level? mark? skill? transition',
  request,
  'reversible.request': request,
  decision,
  'decision.late': decision,
  intent,
  'commit.intent': intent,
  'rollback.intent': intent,
  executed: outcome,
  error: outcome,
  committed: outcome,
  'rolled-back': outcome,
  staged: 'bytes envelope plan rest?',
  resolved: 'by evidence finding readings rest?',
  mutation: 'after? approved before object proposed route skill subject',
  barrier: 'corpora fence idle round',
  verdict: 'corpora findings from report? result to',
  recovery: 'denied expired inDoubt rolledBack torn?',
  checkpoint: 'note',
  tool: 'event schema server tool',
  hook: 'agent choice client input reason? tool',
  refused: 'agent? channel count reason',
}
const top = 'batch body kind prevHash request seq session time'

const isEmpty = value => value === '' || (Array.isArray(value) && value.length === 0)

/** hasFields: an object with exactly the fields of a list. */
function hasFields(object, list) {
  const fields = list.split(' ')
  return object instanceof Map && fields.every(f => f.endsWith('?') || object.has(f)) &&
    [...object.keys()].every(k => fields.includes(k) || (fields.includes(`${k}?`) && !isEmpty(object.get(k))))
}

const hidden = /[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]/gu
const escaped = c => c.split('').map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** spelled is the one spelling of a value in a line. */
export const spelled = value => canonical(value).replace(hidden, escaped)

const isID = value => typeof value === 'string' && /^[A-Za-z0-9._:-]{0,128}$/.test(value)
const isHash = value => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isCount = value => Number.isInteger(value) && value >= 0 && value <= 2 ** 53

function isTime(value) {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/.test(value)) return false
  const at = new Date(`${value.slice(0, 19)}Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value.slice(0, 19))
}

/** readRecord reads a line without its newline. */
export function readRecord(line) {
  let r
  try {
    r = parse(line, { limitBytes: 1 << 16, limitDepth: 64 })
  } catch (err) {
    if (err instanceof Refusal) throw new Refusal('line-invalid')
    throw err
  }
  const own = hasFields(r, top) && Object.hasOwn(kinds, r.get('kind')) && hasFields(r.get('body'), kinds[r.get('kind')]) &&
    isCount(r.get('seq')) && isCount(r.get('batch')) && r.get('batch') <= r.get('seq') && isHash(r.get('prevHash')) &&
    isID(r.get('session')) && isID(r.get('request')) && isTime(r.get('time'))
  if (!own || !Buffer.from(spelled(r)).equals(line)) throw new Refusal('line-invalid')
  return r
}

/** The right edge of a tree: the roots of its complete subtrees. */
class Tree {
  constructor() {
    this.size = 0
    this.edge = []
  }

  push(leaf) {
    let hash = leaf
    for (let n = this.size; n % 2 === 1; n = (n - 1) / 2) hash = node(this.edge.pop(), hash)
    this.edge.push(hash)
    this.size++
  }

  root() {
    return this.edge.length === 0 ? sha256() : this.edge.reduceRight((right, left) => node(left, right))
  }
}

/** openNote returns the lines of a checkpoint's text that the key signed. */
function openNote(note, origin, key) {
  const end = note.indexOf('\n\n')
  const text = note.slice(0, end + 1)
  const id = sha256(origin, '\n', [1], key).subarray(0, 4)
  const signed = end > 0 && note.endsWith('\n') && note.slice(end + 2, -1).split('\n').some(line => {
    const [, name, value] = /^— (\S+) (\S+)$/.exec(line) ?? []
    const raw = Buffer.from(value ?? '', 'base64')
    return name === origin && raw.length === 68 && raw.subarray(0, 4).equals(id) && verifies(key, '', text, raw.subarray(4))
  })
  if (!signed) throw new Refusal('note-signature')
  const lines = text.split('\n')
  const form = /^[^\n]+\n[1-9][0-9]*\n[A-Za-z0-9+/]{43}=\nchain [0-9a-f]{64}\nstate [0-9a-f]{64}\n$/
  if (!form.test(text) || lines[0] !== origin) throw new Refusal('note-invalid')
  return { size: Number(lines[1]), root: lines[2], chain: lines[3].slice(6), state: lines[4].slice(6) }
}

function checkRotation(body, state, prev) {
  const { origin, logKey, epoch } = state.log()
  const text = [origin, body.get('epoch'), body.get('old'), body.get('new'), prev, ''].join('\n')
  const by = which => verifies(readKey(body.get(which)), 'iff/log-key/v1\n', text, readSignature(body.get(`${which}Signature`)))
  try {
    if (body.get('old') === logKey && body.get('epoch') === epoch + 1 && by('old') && by('new')) return
  } catch (err) {
    if (!(err instanceof Refusal)) throw err
  }
  throw new Refusal('key-rotation')
}

/** Log is a log as far as it was read. */
class Log {
  constructor(expected) {
    this.expected = expected
    this.tree = new Tree()
    this.state = new State()
    this.prev = '0'.repeat(64)
    this.batch = 0
    this.signed = 0
  }

  add(line) {
    const r = readRecord(line)
    const n = this.tree.size
    if (r.get('seq') !== n) throw new Refusal('seq-gap')
    if (r.get('prevHash') !== this.prev) throw new Refusal('chain-broken')
    if (r.get('batch') !== this.batch && r.get('batch') !== n) throw new Refusal('batch-order')
    if ((r.get('kind') === 'init') !== (n === 0)) throw new Refusal('first-record')
    this.vouching(r)
    this.state.apply(r)
    const leaf = leafHash(line)
    this.tree.push(leaf)
    this.prev = leaf.toString('hex')
    this.batch = r.get('batch')
    const [size, root] = this.expected.anchor?.split(' ') ?? []
    if (Number(size) === this.tree.size && root !== this.root()) this.forked = true
  }

  root() {
    return this.tree.root().toString('base64')
  }

  /** vouching checks the kinds that vouch for others. */
  vouching(r) {
    const body = r.get('body')
    const { origin, key } = this.expected
    if (r.get('kind') === 'init' && origin !== undefined && body.get('origin') !== origin) throw new Refusal('origin-other')
    if (r.get('kind') === 'init' && key !== undefined && body.get('logKey') !== key) throw new Refusal('key-other')
    if (r.get('kind') === 'key.rotated') checkRotation(body, this.state, this.prev)
    if (r.get('kind') === 'checkpoint') this.checkpoint(body.get('note'))
  }

  checkpoint(note) {
    const { origin, logKey } = this.state.log()
    const said = openNote(note, origin, readKey(logKey))
    const holds = said.size === this.tree.size && said.root === this.root() && said.chain === this.prev && said.state === this.state.digest(spelled)
    if (!holds) throw new Refusal('checkpoint-off')
    this.signed = this.tree.size
  }

  /** end holds the whole against the anchor. */
  end() {
    if (this.tree.size === 0) throw new Refusal('log-empty')
    if (this.forked) throw new Refusal('log-forked')
    if (Number(this.expected.anchor?.split(' ')[0] ?? 0) > this.tree.size) throw new Refusal('log-rolled-back')
  }
}

/** read takes the lines of one segment; last, if only room may follow. */
function readSegment(log, bytes) {
  let from = 0
  for (let end; from < bytes.length; from = end + 1) {
    end = bytes.indexOf(0x0a, from)
    if (log.room) throw new Refusal('line-blank')
    if (end === from) {
      if (!/^\n*$/.test(bytes.subarray(from).toString('latin1'))) throw new Refusal('line-blank')
      log.room = true
      return
    }
    if (end < 0) throw new Refusal('line-unended')
    log.add(bytes.subarray(from, end))
  }
}

/** withoutRoom: newlines, and zeros among them, behind the last line. */
function withoutRoom(bytes) {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === 0x0a || bytes[end - 1] === 0)) end--
  return bytes.subarray(0, bytes[end] === 0x0a && end > 0 ? end + 1 : end)
}

/** checkLog reads segments, each with name and bytes. */
export function checkLog(segments, expected) {
  const log = new Log(expected)
  const sorted = [...segments].sort((a, b) => (a.name < b.name ? -1 : 1))
  try {
    sorted.forEach(({ name, bytes }, i) => {
      const own = i === sorted.length - 1 ? withoutRoom(bytes) : bytes
      if (name !== `${String(log.tree.size).padStart(20, '0')}.jsonl`) throw new Refusal('segment-name')
      readSegment(log, own)
    })
  } catch (err) {
    if (err instanceof Refusal) err.record = log.tree.size
    throw err
  }
  log.end()
  return { records: String(log.tree.size), signed: String(log.signed), root: log.root(), chain: log.prev, state: log.state.digest(spelled) }
}

/** implied is the root that an inclusion proof leads to: RFC 6962 section 2.1.1. */
function implied(index, size, leaf, path) {
  if (size === 1 || path.length === 0) return size === 1 && path.length === 0 && index === 0 ? leaf : Buffer.alloc(0)
  let half = 1
  while (2 * half < size) half *= 2
  const rest = path.slice(0, -1)
  if (index < half) return node(implied(index, half, leaf, rest), path.at(-1))
  return node(path.at(-1), implied(index - half, size - half, leaf, rest))
}

/** checkReceipt checks that a record is under a checkpoint that the key signed. */
export function checkReceipt(text, { origin, key }) {
  const hash = '([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)\n'
  const form = new RegExp(`^c2sp\\.org/tlog-proof@v1\nextra ${hash}index (0|[1-9][0-9]{0,15})\n((?:${hash})*)\n([^]*)$`)
  const [, extra, index, path, , note] = form.exec(text) ?? []
  if (note === undefined) throw new Refusal('proof-invalid')
  const { size, root } = openNote(note, origin, readKey(key))
  const leaf = Buffer.from(extra, 'base64')
  const hashes = path.split('\n').slice(0, -1).map(h => Buffer.from(h, 'base64'))
  if (implied(Number(index), size, leaf, hashes).toString('base64') !== root) throw new Refusal('proof-invalid')
  return { index, size: String(size), leaf: leaf.toString('hex') }
}
