// Tokenises HTML into text and tags, with the error handling of browsers; linear time, without a tree.

/** Callbacks for the tokens, in their order. `attributes` is the raw text between the tag's name and its end. */
export interface HtmlReader {
  /** Raw text with undecoded character references. Returning false ends the walk. */
  text(raw: string): boolean
  open(tag: string, attributes: string): void
  close(tag: string): void
  /** Content of a raw text element (style, script…). */
  raw?(tag: string, content: string): void
}

/** Elements whose content is no markup (HTML standard 13.2.5.2 to 13.2.5.4); none of it is visible. */
const RAW = new Set(['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'])

const TAG_NAME = /[a-z][^\s/>]*/iy

/** Walks the HTML from start to end. An unterminated tag or comment extends to the end, as in a browser. */
export function readHtml(html: string, reader: HtmlReader): void {
  let pos = 0
  while (pos < html.length) {
    const tag = nextTag(html, pos)
    if (tag > pos && !reader.text(html.slice(pos, tag))) return
    if (tag === html.length) return
    pos = readTag(html, tag, reader)
  }
}

/** Offset of the next "<" that begins a tag or a comment. */
function nextTag(html: string, from: number): number {
  for (let at = html.indexOf('<', from); at >= 0; at = html.indexOf('<', at + 1)) {
    const code = html.charCodeAt(at + 1)
    // "/", "?", "!" or a letter, whose small form has one bit more.
    if (code === 47 || code === 63 || code === 33 || ((code | 32) >= 97 && (code | 32) <= 122)) return at
  }
  return html.length
}

/** Reads one tag, comment or declaration; returns the offset behind it. */
function readTag(html: string, start: number, reader: HtmlReader): number {
  const mark = html[start + 1]
  if (html.startsWith('<!--', start)) return endOfComment(html, start)
  if (mark === '!' || mark === '?') return behind(html, '>', start)
  TAG_NAME.lastIndex = mark === '/' ? start + 2 : start + 1
  const name = TAG_NAME.exec(html)?.[0].slice(0, 40).toLowerCase()
  if (name === undefined) return behind(html, '>', start)
  const from = TAG_NAME.lastIndex
  const end = endOfTag(html, from)
  if (end > html.length) return html.length
  if (mark === '/') {
    reader.close(name)
    return end
  }
  const attributes = html.slice(from, end - 1)
  reader.open(name, attributes)
  if (!RAW.has(name)) return end
  const close = endOfRaw(html, name, end)
  reader.raw?.(name, html.slice(end, close))
  return close
}

/** "<!-->" and "<!--->" are whole comments; "--!>" ends one too. */
function endOfComment(html: string, start: number): number {
  const end = /^-?>/.exec(html.slice(start + 4, start + 6))
  if (end) return start + 4 + end[0].length
  return behind(html, '-->', start + 4)
}

function behind(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from)
  return at < 0 ? html.length : at + text.length
}

/** Behind the ">" of a tag, quoted values passed over; behind the text itself when there is none. */
function endOfTag(html: string, from: number): number {
  let value = false
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at)
    if (code === 62) return at + 1
    if (code === 61) value = true
    else if (value && (code === 34 || code === 39)) {
      at = html.indexOf(html[at]!, at + 1)
      if (at < 0) break
      value = false
    } else if (code > 32) value = false
  }
  return html.length + 1
}

function endOfRaw(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}

const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g

/** The value of a tag's attribute, raw; null when it is absent. The first of a name is used. */
export function attribute(attributes: string, name: string): string | null {
  ATTRIBUTE.lastIndex = 0
  for (let found = ATTRIBUTE.exec(attributes); found; found = ATTRIBUTE.exec(attributes)) {
    if (found[1]!.length !== name.length || found[1]!.toLowerCase() !== name) continue
    return found[2] ?? found[3] ?? found[4] ?? ''
  }
  return null
}

/** The attributes of a tag, raw, in their order. */
export function* attributesOf(attributes: string, most: number): Generator<[name: string, value: string]> {
  let count = 0
  // matchAll begins where the expression stopped the last time.
  ATTRIBUTE.lastIndex = 0
  for (const found of attributes.matchAll(ATTRIBUTE)) {
    if (count++ >= most) return
    yield [found[1]!.toLowerCase(), found[2] ?? found[3] ?? found[4] ?? '']
  }
}
