// A lightweight parser of style attributes for previews and search texts. Content cleaning uses the full CSS parser (css/).

import { expanded } from './css/shorthands.ts'

/** Properties that can hide text. */
const PROPERTIES = new Set(
  (
    'display visibility font-size font opacity position left top right bottom inset text-indent margin margin-left margin-top transform ' +
    'scale translate clip clip-path width height max-width max-height overflow overflow-x overflow-y filter content-visibility zoom ' +
    'letter-spacing line-height'
  ).split(' '),
)

/** The longhands of a style attribute that may hide text; a later one of a name wins, an important one over others. */
export function readStyle(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const important = new Set<string>()
  for (const part of withoutComments(text).split(';')) {
    const colon = part.indexOf(':')
    const name = unescaped(part.slice(0, Math.max(colon, 0)))
    if (!PROPERTIES.has(name)) continue
    const [value, mark] = unescaped(part.slice(colon + 1)).split(/\s*!\s*/, 2)
    for (const [longhand, each] of expanded(name, value!.trim())) {
      if (mark === 'important') important.add(longhand)
      else if (important.has(longhand)) continue
      found.set(longhand, each)
    }
  }
  return found
}

function unescaped(text: string): string {
  const plain = text.includes('\\') ? text.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, fromEscape) : text
  return plain.trim().toLowerCase()
}

function fromEscape(_: string, hex: string | undefined, character: string): string {
  if (hex === undefined) return character
  const code = Number.parseInt(hex, 16)
  return code === 0 || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
}

function withoutComments(text: string): string {
  if (!text.includes('/*')) return text
  let out = ''
  let at = 0
  for (;;) {
    const open = text.indexOf('/*', at)
    if (open < 0) return out + text.slice(at)
    out += text.slice(at, open)
    const close = text.indexOf('*/', open + 2)
    if (close < 0) return out
    at = close + 2
  }
}
