// A streaming XML reader: expands no entity to more than one character, and fetches nothing.

export interface XmlReader {
  open?(name: string, attributes: string): void
  close?(name: string): void
  /** Character references are decoded. Returning false stops reading. */
  text?(text: string): boolean
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads the text from start to end and skips malformed markup. Linear; never throws. */
export function readXml(xml: string, reader: XmlReader): void {
  let at = 0
  while (at < xml.length) {
    const tag = xml.indexOf('<', at)
    const end = tag < 0 ? xml.length : tag
    if (end > at && reader.text?.(decoded(xml.slice(at, end))) === false) return
    if (tag < 0) return
    if (xml.startsWith('<!--', tag)) at = behind(xml, '-->', tag + 4)
    else if (xml.startsWith('<![CDATA[', tag)) {
      at = behind(xml, ']]>', tag + 9)
      if (reader.text?.(xml.slice(tag + 9, Math.max(tag + 9, at - 3))) === false) return
    } else if (xml[tag + 1] === '?') at = behind(xml, '?>', tag + 2)
    else if (xml[tag + 1] === '!') at = endOfDeclaration(xml, tag)
    else at = readTag(xml, tag, reader)
  }
}

function readTag(xml: string, tag: number, reader: XmlReader): number {
  const end = endOfTag(xml, tag + 1)
  const inside = xml.slice(tag + 1, end - 1)
  if (inside.startsWith('/')) {
    reader.close?.(inside.slice(1).trim())
    return end
  }
  const empty = inside.endsWith('/')
  const body = empty ? inside.slice(0, -1) : inside
  const space = body.search(/\s/)
  const name = space < 0 ? body : body.slice(0, space)
  reader.open?.(name, space < 0 ? '' : body.slice(space + 1))
  if (empty) reader.close?.(name)
  return end
}

/** Offset after the ">" of a tag, outside quoted values. */
function endOfTag(xml: string, from: number): number {
  for (let at = from; at < xml.length; at++) {
    const code = xml.charCodeAt(at)
    if (code === 62) return at + 1
    if (code === 34 || code === 39) {
      at = xml.indexOf(xml[at]!, at + 1)
      if (at < 0) return xml.length + 1
    }
  }
  return xml.length + 1
}

/** A DOCTYPE with an internal subset ends after its bracket. */
function endOfDeclaration(xml: string, tag: number): number {
  const close = xml.indexOf('>', tag)
  if (close < 0) return xml.length
  const bracket = xml.slice(tag, close).indexOf('[')
  return bracket < 0 ? close + 1 : behind(xml, '>', behind(xml, ']', tag + bracket))
}

function behind(xml: string, mark: string, from: number): number {
  const at = xml.indexOf(mark, from)
  return at < 0 ? xml.length : at + mark.length
}

function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const code = Number.parseInt(hex ?? decimal, hex === undefined ? 10 : 16)
    return code > 0x10ffff || code === 0 ? '\ufffd' : String.fromCodePoint(code)
  })
}

/** The value of an attribute; null when it is not there. */
export function xmlAttribute(attributes: string, name: string): string | null {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes)
  return found === null ? null : decoded(found[1] ?? found[2] ?? '')
}
