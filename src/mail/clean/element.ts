// One element of a mail's HTML: how it looks, and what it holds.

import { decodeEntities } from '../html-entities.ts'
import { attribute } from '../html-tokens.ts'
import { type Mark, markOf } from './marks.ts'
import { classesOf, type Declarations, readDeclarations, type Styled } from './style-sheet.ts'
import { type Looks, looksOf, PLAIN } from './visibility.ts'

/** Characters of an attribute that are looked at. */
const ATTRIBUTE_MAX = 2048

/** Elements that show nothing in a mail. */
const UNSEEN = new Set(
  'head template noscript object audio video canvas map select datalist svg math rp applet'.split(' '),
)

export interface Described extends Styled {
  looks: Looks
  /** No program shows what is in it. */
  isUnseen: boolean
  isPre: boolean
  quoted: boolean
  signature: boolean
  cited: boolean
  mark: Mark
  /** Number of the last item of an ordered list, null in others. */
  count: number | null
}

type Own = ReturnType<typeof readDeclarations>

/** @param declarations what style sheets and its own style say of it */
export function describe(
  tag: string,
  attributes: string,
  outer: Described | null,
  declarations: (styled: Styled, own: Own) => Declarations,
): Described {
  const read = (name: string) => {
    const value = attributes.includes('=') ? attribute(attributes, name) : null
    return value === null ? null : decodeEntities(value.slice(0, ATTRIBUTE_MAX))
  }
  const styled: Styled = { tag, id: read('id') ?? '', classes: classesOf(read('class')) }
  const style = read('style')
  const looks = looksOf(outer?.looks ?? PLAIN, declarations(styled, style === null ? [] : readDeclarations(style)), {
    hidden: attribute(attributes, 'hidden') !== null || isShut(tag, attributes),
    bgcolor: read('bgcolor'),
    background: read('background'),
    colour: tag === 'font' ? read('color') : tag === 'body' ? read('text') : null,
  })
  const mark = markOf(styled, tag === 'blockquote' ? read('type') : null)
  return {
    ...styled,
    looks,
    mark,
    isUnseen: (outer?.isUnseen ?? false) || UNSEEN.has(tag),
    isPre: (outer?.isPre ?? false) || tag === 'pre',
    quoted: (outer?.quoted ?? false) || mark === 'quote',
    signature: (outer?.signature ?? false) || mark === 'signature',
    cited: (outer?.cited ?? false) || tag === 'blockquote',
    count: tag === 'ol' ? 0 : null,
  }
}

/** `dialog` and what pops up are not there before somebody asks for them. */
function isShut(tag: string, attributes: string): boolean {
  if (tag === 'dialog') return attribute(attributes, 'open') === null
  return attributes.includes('popover') && attribute(attributes, 'popover') !== null
}
