// Manifests, content roots, signatures over both.

import { createHash } from 'node:crypto'
import { Refusal, array, boolean, canonical, integer, object, parse, string, text } from './check-json.mjs'
import { parseList } from './check-grant.mjs'
import { readKey, readSignature, verifies } from './check-key.mjs'
import { fromParts, scheme } from './check-label.mjs'
import { isFileName, isSkillName, isVisible, twin } from './check-text.mjs'

const sha256 = data => createHash('sha256').update(data).digest('hex')

export const parts = object({ rank: string, compartments: array(string), releasable: array(string) })
export const levels = ['unverified', 'declared', 'tested', 'formal']
export const isSignerID = id => /^[a-z0-9][a-z0-9._@-]{0,63}$/.test(id)

const manifest = object({
  schema: string, name: string, version: integer, label: parts, caps: array(string), signer: string, verification: string, summary: string,
}, 'verification', 'summary')

/** parseManifest reads a manifest under a label scheme and returns it as a Map. */
export function parseManifest(bytes, s) {
  const m = parse(bytes, { limitBytes: 256 << 10, shape: manifest })
  if (m.get('schema') !== 'iff/skill/v1') throw new Refusal('schema-unknown')
  if (!isSkillName(m.get('name'))) throw new Refusal('name-invalid')
  if (!Number.isSafeInteger(m.get('version')) || m.get('version') < 1) throw new Refusal('version-invalid')
  if (!isSignerID(m.get('signer'))) throw new Refusal('signer-id-invalid')
  const summary = m.get('summary') ?? ''
  if ([...summary].length > 300 || !isVisible(summary)) throw new Refusal('summary-invalid')
  fromParts(s, Object.fromEntries(m.get('label')))
  if (m.get('verification') && !levels.includes(m.get('verification'))) throw new Refusal('level-unknown')
  parseList(m.get('caps'))
  if (m.get('verification') === '' || m.get('summary') === '') throw new Refusal('missing-field')
  return m
}

/** file is one file of a directory, in the payloads. */
export const file = object({ content: string, executable: boolean, path: string })

const ours = ['skill.iff.json', 'skill.iff.sig', 'skill.iff.intoto.jsonl']

/** contentList is the list that the root is taken of, from what is in a directory. */
export function contentList(files) {
  const seen = new Map()
  for (const { path } of files) {
    const steps = path.split('/')
    if (!steps.every(isFileName)) throw new Refusal('file-name')
    if (steps.length > 17) throw new Refusal('directory-too-deep')
    steps.forEach((_, i) => {
      const below = steps.slice(0, i + 1).join('/')
      const key = twin(below)
      if (seen.has(key) && (seen.get(key) !== below || below === path)) throw new Refusal('name-twin')
      seen.set(key, below)
    })
  }
  return files.filter(f => !ours.includes(f.path)).sort((a, b) => byBytes(a.path, b.path)).map(({ path, executable, content }) => {
    const bytes = Buffer.from(content, 'base64')
    return { path, executable, size: bytes.length, sha256: sha256(bytes) }
  })
}

const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** contentRoot is the hash of the list's canonical form. */
export const contentRoot = list => sha256(canonical(list))

/** statement is what is signed: the canonical form of content root and manifest. */
const statement = (root, m) => canonical({ content: root, manifest: m })

const domain = 'iff/skill/v1\n'

/** checkSignature is the signature alone; it returns the subject. */
export function checkSignature({ content, manifest: m, publicKey, signature }) {
  const key = readKey(publicKey)
  const form = statement(content, m)
  if (!verifies(key, domain, form, readSignature(signature))) throw new Refusal('signature-invalid')
  return sha256(form)
}

const hash = text(value => {
  if (!/^[0-9a-f]{64}$/.test(value)) throw new Refusal('signature-malformed')
  return value
})

const signatureFile = object({
  schema: string, manifest: hash, signature: text(readSignature),
  content: array(object({ path: string, size: integer, executable: boolean, sha256: hash })),
})

function parseSignatureFile(bytes) {
  let f
  try {
    f = parse(bytes, { limitBytes: 8 << 20, shape: signatureFile })
  } catch (err) {
    if (err instanceof Refusal) throw new Refusal('signature-malformed')
    throw err
  }
  const list = f.get('content')
  const sorted = list.every((line, i) => i === 0 || byBytes(list[i - 1].get('path'), line.get('path')) < 0)
  if (f.get('schema') !== 'iff/signature/v1' || !sorted) throw new Refusal('signature-malformed')
  return f
}

/** checkDirectory is a directory with what iff keeps beside it: the signature
 * covers the list in its file, the list is held against what is there. The
 * root names one signer, ops. */
export function checkDirectory({ files, manifest: manifestText, publicKey, signature }) {
  if (manifestText === undefined) throw new Refusal('manifest-missing')
  const m = parseManifest(Buffer.from(manifestText), scheme('default'))
  const key = readKey(publicKey)
  if (m.get('signer') !== 'ops') throw new Refusal('signer-unknown')
  if (signature === undefined) throw new Refusal('signature-missing')
  const signed = parseSignatureFile(Buffer.from(signature))
  const list = contentList(files)
  const form = statement(contentRoot(signed.get('content')), m)
  const named = signed.get('manifest') === sha256(canonical(m))
  if (!verifies(key, domain, form, signed.get('signature'))) throw new Refusal(named ? 'signature-invalid' : 'manifest-changed')
  if (!named) throw new Refusal('signature-malformed')
  if (canonical(list) !== canonical(signed.get('content'))) throw new Refusal('content-changed')
  if (!list.some(f => f.path.toLowerCase() === 'skill.md')) throw new Refusal('skillmd-missing')
  return { root: contentRoot(list), subject: sha256(form) }
}
