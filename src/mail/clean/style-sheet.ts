// The style sheets of a mail, as far as they can hide something: rules by element, class and id, for a wide screen.

/** Rules that are kept, and characters of sheets that are read. */
export const RULES_MAX = 2000
const SHEET_MAX = 256 * 1024
const COMPOUNDS_MAX = 8
/** Blocks inside blocks. */
const DEPTH_MAX = 3
const CLASSES_MAX = 16

/** Properties that decide whether text is seen. */
const PROPERTIES = new Set(
  (
    'display visibility font-size font opacity color background background-color background-image position left top right bottom ' +
    'text-indent margin-left margin-top transform clip clip-path width height max-width max-height overflow overflow-x overflow-y ' +
    'filter -webkit-text-fill-color content-visibility'
  ).split(' '),
)

/** What styles say of one element. */
export type Declarations = Map<string, string>

/** An element, as rules see it. */
export interface Styled {
  tag: string
  id: string
  classes: readonly string[]
}

interface Declaration {
  name: string
  value: string
  important: boolean
}

interface Compound extends Styled {
  /** The one before it has to be the parent, not any ancestor. */
  isChild: boolean
}

interface Rule {
  /** From the outermost to the element itself. */
  compounds: Compound[]
  weight: number
  declarations: Declaration[]
}

/** The declarations of a style attribute or a rule that count here; a later one of a name wins. */
export function readDeclarations(text: string): Declaration[] {
  const found: Declaration[] = []
  for (const part of withoutComments(text).split(';')) {
    const colon = part.indexOf(':')
    if (colon < 0) continue
    const written = part.slice(0, colon).trim()
    const name = PROPERTIES.has(written) ? written : written.toLowerCase()
    if (!PROPERTIES.has(name)) continue
    const raw = part
      .slice(colon + 1)
      .trim()
      .toLowerCase()
    const mark = raw.lastIndexOf('!')
    const important = mark >= 0 && raw.slice(mark + 1).trim() === 'important'
    found.push({ name, value: important ? raw.slice(0, mark).trim() : raw, important })
  }
  return found
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

export class StyleSheet {
  /** By what their last compound names: an id, a class, an element, or anything. */
  readonly #rules = new Map<string, Rule[]>()
  #count = 0
  #room = SHEET_MAX
  /** Comparisons made: what bounds the work on a hostile mail. */
  work = 0

  /** Reads one `<style>`. */
  add(text: string): void {
    const css = withoutComments(text.slice(0, this.#room).replace(/<!--|-->/g, ' '))
    this.#room -= Math.min(this.#room, text.length)
    this.#readBlock(css, 0, css.length, 0)
  }

  /** What holds for an element, the sheets first and its own attribute on top of them. */
  declarationsOf(element: Styled, ancestors: readonly Styled[], own: readonly Declaration[]): Declarations {
    const rules = this.#matching(element, ancestors)
    rules.sort((one, other) => one.weight - other.weight)
    const declarations: Declarations = new Map()
    const set = (list: readonly Declaration[], important: boolean) => {
      for (const each of list) if (each.important === important) declarations.set(each.name, each.value)
    }
    for (const rule of rules) set(rule.declarations, false)
    set(own, false)
    for (const rule of rules) set(rule.declarations, true)
    set(own, true)
    return declarations
  }

  #matching(element: Styled, ancestors: readonly Styled[]): Rule[] {
    if (this.#count === 0) return []
    const keys = [`#${element.id}`, element.tag, '*', ...element.classes.map((name) => `.${name}`)]
    const found: Rule[] = []
    for (const key of keys) {
      for (const rule of this.#rules.get(key) ?? []) if (this.#fits(rule, element, ancestors)) found.push(rule)
    }
    return found
  }

  #fits({ compounds }: Rule, element: Styled, ancestors: readonly Styled[]): boolean {
    this.work++
    let at = compounds.length - 1
    if (!isMeant(compounds[at]!, element)) return false
    let level = ancestors.length - 1
    for (; at > 0; at--) {
      const { isChild } = compounds[at]!
      while (level >= 0 && !isMeant(compounds[at - 1]!, ancestors[level]!)) {
        this.work++
        if (isChild) return false
        level--
      }
      if (level < 0) return false
      level--
    }
    return true
  }

  /** Rules between two braces, or of the whole sheet. */
  #readBlock(css: string, from: number, to: number, depth: number): void {
    if (depth > DEPTH_MAX) return
    let at = from
    while (at < to && this.#count < RULES_MAX) {
      const open = css.indexOf('{', at)
      if (open < 0 || open >= to) return
      const before = css.slice(at, open)
      const head = before.slice(before.lastIndexOf(';') + 1).trim()
      const close = endOfBlock(css, open, to)
      if (!head.startsWith('@')) this.#addRule(head, css.slice(open + 1, close))
      else if (isForWideScreens(head)) this.#readBlock(css, open + 1, close, depth + 1)
      at = close + 1
    }
  }

  #addRule(head: string, body: string): void {
    const declarations = readDeclarations(body)
    if (declarations.length === 0) return
    for (const selector of head.split(',')) {
      const compounds = readSelector(selector.trim())
      if (compounds === null || this.#count >= RULES_MAX) continue
      const weight = weightOf(compounds) * RULES_MAX + this.#count++
      const key = keyOf(compounds.at(-1)!)
      const rules = this.#rules.get(key)
      if (rules === undefined) this.#rules.set(key, [{ compounds, weight, declarations }])
      else rules.push({ compounds, weight, declarations })
    }
  }
}

/** Conditions a reader at a desk fulfils; what depends on the width or the colours of a device is left out. */
function isForWideScreens(head: string): boolean {
  return /^@media\b/i.test(head) && !/print|width|height|device|orientation|prefers|speech|not\b/i.test(head)
}

function endOfBlock(css: string, open: number, to: number): number {
  let depth = 0
  for (let at = open; at < to; at++) {
    const code = css.charCodeAt(at)
    if (code === 123) depth++
    else if (code === 125 && --depth === 0) return at
  }
  return to
}

const SIMPLE = /^([a-z][a-z0-9]*|\*)?((?:[.#][\w-]+)*)$/i

/** @returns null for selectors that ask for more than elements, classes, ids and what is around them */
function readSelector(text: string): Compound[] | null {
  const compounds: Compound[] = []
  let isChild = false
  for (const part of text.replaceAll('>', ' > ').split(/\s+/)) {
    if (part === '') continue
    if (part === '>') {
      isChild = true
      continue
    }
    const found = part.length < 300 ? SIMPLE.exec(part) : null
    if (found === null || compounds.length >= COMPOUNDS_MAX) return null
    const marks = found[2]!.match(/[.#][\w-]+/g) ?? []
    const ids = marks.filter((mark) => mark.startsWith('#'))
    if (ids.length > 1) return null
    const classes = marks.filter((mark) => mark.startsWith('.')).map((mark) => mark.slice(1))
    const tag = found[1] === '*' ? '' : (found[1] ?? '').toLowerCase()
    compounds.push({ tag, id: ids[0]?.slice(1) ?? '', classes, isChild })
    isChild = false
  }
  return compounds.length > 0 && !isChild ? compounds : null
}

function weightOf(compounds: readonly Compound[]): number {
  let weight = 0
  for (const { id, classes, tag } of compounds) {
    weight += (id === '' ? 0 : 10_000) + classes.length * 100 + (tag === '' ? 0 : 1)
  }
  return weight
}

function keyOf({ id, classes, tag }: Compound): string {
  if (id !== '') return `#${id}`
  if (classes.length > 0) return `.${classes[0]}`
  return tag === '' ? '*' : tag
}

function isMeant({ tag, id, classes }: Compound, element: Styled): boolean {
  if (tag !== '' && tag !== element.tag) return false
  if (id !== '' && id !== element.id) return false
  return classes.every((name) => element.classes.includes(name))
}

/** The classes of a class attribute. */
export function classesOf(attribute: string | null): string[] {
  return attribute === null ? [] : attribute.trim().split(/\s+/, CLASSES_MAX)
}
