// What a reader of a text can see: grants, file names, summaries, names.

const joined = (...properties) => properties.map(p => `\\p{${p}}`).join('')

const ignorable = joined('Cf', 'Default_Ignorable_Code_Point', 'Variation_Selector')

/** hidden finds what no grant and no target may hold as it is. */
export const hidden = new RegExp(`[${ignorable}${joined('Cc', 'Zl', 'Zp', 'Noncharacter_Code_Point')}]`, 'u')

/** isFileName: what one step of a path may be. */
export function isFileName(name) {
  return name !== '' && name !== '.' && name !== '..' && !/[ .]$/.test(name) && Buffer.byteLength(name) <= 255 &&
    !new RegExp(`[\\0/${ignorable}${joined('Cc', 'Zl', 'Zp')}]`, 'u').test(name)
}

/** twin is equal for two paths that some file system takes for one. */
export const twin = path => foldFully(path.normalize('NFKC')).normalize('NFC')

// Lower, upper and lower case again is full case folding, but for the dotless
// i, which folds in Turkic languages alone.
const foldFully = text => [...text].map(c => (c === 'ı' ? c : c.toLowerCase().toUpperCase().toLowerCase())).join('')

/** isSkillName: 1 to 64 letters that have no upper case, digits and single
 * inner hyphens, with the marks on them, in the form NFKC. */
export function isSkillName(name) {
  return name.normalize('NFKC') === name && [...name].length <= 64 && !new RegExp(`[${ignorable}]`, 'u').test(name) &&
    /^(?:[\p{Ll}\p{Lo}\p{Lm}\p{Nd}][\p{Mn}\p{Mc}]*)+(?:-(?:[\p{Ll}\p{Lo}\p{Lm}\p{Nd}][\p{Mn}\p{Mc}]*)+)*$/u.test(name)
}

const symbol = /^(?:[\u203c\u2049\u2139\u3030\u{1f000}-\u{1faff}]|(?!\ufffd)[^\0-\x7f])$/u
const isSymbol = c => c !== undefined && symbol.test(c) && (/^[\u203c\u2049\u2139\u3030\u{1f000}-\u{1faff}]$/u.test(c) || /^\p{S}$/u.test(c))
const script = names => new RegExp(`^[${names.split(' ').map(n => `\\p{Script=${n}}`).join('')}]$`, 'u')
const joining = script('Arabic Syriac Mandaic Nko Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Tibetan Myanmar Khmer Balinese Javanese')
const unspaced = script('Thai Lao Khmer Myanmar Tibetan Balinese Javanese Tai_Tham New_Tai_Lue')
const isJoining = c => c !== undefined && (c === '\u0640' || (c > '\u05ff' && !isInvisible(c) && joining.test(c)))
const isUnspaced = c => c !== undefined && c > '\u05ff' && !isInvisible(c) && unspaced.test(c)

const prepended = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u
const unseen = new RegExp(`[${ignorable}${joined('Cc', 'Zl', 'Zp', 'Zs', 'Co', 'Cn')}]`, 'u')
const isInvisible = c => unseen.test(c) && !/[ \u3000\u{1f000}-\u{1faff}]/u.test(c) && !prepended.test(c)
const isVariation = c => c !== undefined && /\p{Variation_Selector}/u.test(c)

/** isVisible: every character of the line is one that a reader sees, or one
 * that belongs where it stands: joiners in emoji and in scripts that need
 * them, one variation selector, the three flags made of tags. */
export function isVisible(line) {
  const cs = [...line.replace(/\u{1f3f4}(?:\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})|(?:\u{e0075}\u{e0073}|\u{e0063}\u{e0061})[\u{e0061}-\u{e007a}]{2})\u{e007f}/gu, '\u{1f3f4}')]
  let base
  let joiner = false
  return cs.every((c, i) => {
    if (!isInvisible(c)) {
      joiner = false
      if (!/^\p{M}$/u.test(c)) base = c
      return true
    }
    if (joiner) return false
    if (isVariation(c)) return varies(c, base, cs[i + 1])
    joiner = joins(c, base, cs[i + 1])
    return joiner
  })
}

function joins(c, before, after) {
  if (c === '\u200c') return isJoining(before) || isJoining(after)
  if (c === '\u200d') return isJoining(before) || isJoining(after) || (isSymbol(before) && isSymbol(after))
  return c === '\u200b' && isUnspaced(before) && isUnspaced(after)
}

function varies(c, before = '', after) {
  if (isVariation(after)) return false
  if (c === '\ufe0e' || c === '\ufe0f') return isSymbol(before) || (after === '\u20e3' && /^[#*0-9]$/.test(before))
  if (c <= '\u180f') return /^\p{Script=Mongolian}$/u.test(before)
  if (c <= '\ufe02') return isSymbol(before) || /^\p{Script=Han}$/u.test(before)
  return /^[\u{e0100}-\u{e010f}]$/u.test(c) && /^\p{Script=Han}$/u.test(before)
}
