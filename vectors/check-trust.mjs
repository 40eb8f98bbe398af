// Trust chains: documents that only grow, each signed by the root key.

import { createHash } from 'node:crypto'
import { Refusal, array, boolean, canonical, integer, object, parse, string, text } from './check-json.mjs'
import { readKey, readSignature, verifies } from './check-key.mjs'
import { checkScheme, fromParts } from './check-label.mjs'
import { isSignerID, levels, parts } from './check-skill.mjs'
import { isVisible } from './check-text.mjs'

const key = text(value => {
  readKey(value)
  return value
})

const level = text(value => {
  if (!levels.includes(value)) throw new Refusal('level-unknown')
  return value
})

const signer = object({ id: string, publicKey: key, clearance: parts, level, notAfter: string, approver: boolean, adopter: boolean })

const signed = object({
  document: object({
    schema: string,
    version: integer,
    previous: string,
    root: key,
    scheme: object({ name: string, ranks: array(string), compartments: array(string), releasable: array(string) }),
    signers: array(signer),
    revocations: array(object({ id: string, at: string, why: string })),
  }, 'previous'),
  signature: text(value => {
    readSignature(value)
    return value
  }),
})

/** What the parser says about a document is one token for all of them; what a
 * key, a signature or a level is refused for keeps its own. */
const own = ['key-size', 'key-encoding', 'key-small-order', 'key-mixed-order', 'signature-encoding', 'level-unknown']

function readDocument(line) {
  try {
    return parse(line, { limitBytes: 4 << 20, shape: signed })
  } catch (err) {
    if (err instanceof Refusal && !own.includes(err.token)) throw new Refusal('trust-malformed')
    throw err
  }
}

/** open reads a chain of stored documents, oldest first, and returns the last
 * of them with its digest. */
export function open(lines, pin) {
  if (lines.length === 0) throw new Refusal('trust-empty')
  if (lines.length > 4096) throw new Refusal('trust-too-many')
  return lines.reduce((before, line) => follow(before, line, pin), undefined)
}

/** narrow takes one more document after the lock, if it only revokes. */
export function narrow(before, line) {
  const next = follow(before, line)
  if (next.document.get('signers').length > before.document.get('signers').length) throw new Refusal('trust-locked')
  return next
}

function follow(before, line, pin) {
  const stored = readDocument(line)
  const document = stored.get('document')
  if (document.get('schema') !== 'iff/trust/v1') throw new Refusal('schema-unknown')
  const form = canonical(document)
  if (!verifies(readKey(document.get('root')), 'iff/trust/v1\n', form, readSignature(stored.get('signature')))) {
    throw new Refusal('trust-signature')
  }
  if (before) checkSuccessor(document, before)
  else checkFirst(document, pin)
  checkDocument(document, before?.scheme ?? checkScheme(Object.fromEntries(document.get('scheme'))))
  return {
    document,
    scheme: before?.scheme ?? checkScheme(Object.fromEntries(document.get('scheme'))),
    digest: createHash('sha256').update(form).digest('hex'),
  }
}

function checkFirst(document, pin) {
  if (document.get('version') !== 1) throw new Refusal('trust-version-gap')
  if (document.has('previous')) throw new Refusal('trust-previous')
  if (pin !== undefined && document.get('root') !== pin) throw new Refusal('trust-root-changed')
}

function checkSuccessor(document, { document: old, digest }) {
  const same = field => canonical(document.get(field)) === canonical(old.get(field))
  if (document.get('version') !== old.get('version') + 1) throw new Refusal('trust-version-gap')
  if (!same('root')) throw new Refusal('trust-root-changed')
  if (document.get('previous') !== digest) throw new Refusal('trust-previous')
  if (!same('scheme')) throw new Refusal('trust-scheme-changed')
  const signers = document.get('signers')
  old.get('signers').forEach((entry, i) => {
    if (signers[i] && canonical(signers[i]) === canonical(entry)) return
    const still = signers.some(e => e.get('id') === entry.get('id'))
    throw new Refusal(still ? 'trust-entry-changed' : 'trust-entry-dropped')
  })
  const revocations = document.get('revocations')
  old.get('revocations').forEach((entry, i) => {
    if (!revocations[i] || canonical(revocations[i]) !== canonical(entry)) throw new Refusal('trust-entry-dropped')
  })
  const size = d => d.get('signers').length + d.get('revocations').length
  if (size(document) === size(old)) throw new Refusal('trust-nothing-new')
}

/** checkDocument is what a document may say at all. */
function checkDocument(document, scheme) {
  const signers = document.get('signers')
  const revocations = document.get('revocations')
  if (signers.length > 1024 || revocations.length > 1024) throw new Refusal('trust-too-many')
  const ids = new Set()
  const keys = new Set([document.get('root')])
  for (const entry of signers) {
    checkSigner(entry, scheme)
    if (ids.has(entry.get('id'))) throw new Refusal('signer-duplicate')
    if (keys.has(entry.get('publicKey'))) throw new Refusal('key-duplicate')
    ids.add(entry.get('id'))
    keys.add(entry.get('publicKey'))
  }
  const gone = new Set()
  for (const entry of revocations) {
    const why = Buffer.byteLength(entry.get('why')) <= 200 && isVisible(entry.get('why'))
    if (!isTime(entry.get('at')) || !why) throw new Refusal('revocation-invalid')
    if (!ids.has(entry.get('id'))) throw new Refusal('signer-unknown')
    if (gone.has(entry.get('id'))) throw new Refusal('signer-revoked')
    gone.add(entry.get('id'))
  }
}

function checkSigner(entry, scheme) {
  if (!isSignerID(entry.get('id'))) throw new Refusal('signer-id-invalid')
  fromParts(scheme, Object.fromEntries(entry.get('clearance')))
  if (entry.get('adopter') && (entry.get('level') !== 'unverified' || entry.get('approver'))) throw new Refusal('adopter-level')
  if (entry.get('notAfter') !== 'never' && !isTime(entry.get('notAfter'))) throw new Refusal('not-after-invalid')
}

/** isTime: RFC 3339 in UTC with whole seconds, of a day that there is. */
function isTime(value) {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? new Date(value) : new Date(NaN)
  return !Number.isNaN(at.getTime()) && at.toISOString() === value.replace('Z', '.000Z')
}

/** resolve says whether the root names a signer at a time. */
export function resolve({ document }, id, at) {
  const entry = document.get('signers').find(e => e.get('id') === id)
  if (!entry) throw new Refusal('signer-unknown')
  if (document.get('revocations').some(r => r.get('id') === id)) throw new Refusal('signer-revoked')
  if (entry.get('notAfter') !== 'never' && new Date(at) > new Date(entry.get('notAfter'))) throw new Refusal('signer-expired')
}
