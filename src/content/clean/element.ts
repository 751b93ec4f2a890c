// Properties of an element of an HTML message: style, visibility and role.

import type { StyleSheet } from '../../html/css/style-sheet.ts'
import { decodeEntities } from '../../html/entities.ts'
import { attribute } from '../../html/tokens.ts'
import { type Looks, looksOf, PLAIN } from '../../html/visibility.ts'
import { classesOf, type Mark, markOf, type Named } from './marks.ts'

/** Examined characters of an attribute. */
const ATTRIBUTE_MAX = 2048

/** Elements whose content mail programs do not show. */
const UNSEEN = new Set(
  'head template noscript object audio video canvas map select datalist svg math rp applet'.split(' '),
)

export interface Described extends Named {
  looks: Looks
  /** Its content is never shown. */
  isUnseen: boolean
  isPre: boolean
  quoted: boolean
  signature: boolean
  cited: boolean
  mark: Mark
  /** Number of the last item of an ordered list, null in others. */
  count: number | null
}

const NO_OLD_LOOKS = { hidden: false, bgcolor: null, background: null, colour: null, isPage: true }

/** What is around all elements: the page and its body, as far as no tag is written for them. */
export function pageOf(sheet: StyleSheet): Described {
  const html = sheet.implied('html', null)
  const looks = html === null ? PLAIN : withBody(looksOf(PLAIN, html, NO_OLD_LOOKS), sheet)
  const named = { tag: '', id: '', classes: [], mark: null, count: null }
  return { ...named, looks, isUnseen: false, isPre: false, quoted: false, signature: false, cited: false }
}

function withBody(looks: Looks, sheet: StyleSheet): Looks {
  const body = sheet.implied('body', looks.variables)
  return body === null ? looks : looksOf(looks, body, NO_OLD_LOOKS)
}

/** @param sheet says what style sheets and its own style make of it */
export function describe(tag: string, attributes: string, outer: Described, sheet: StyleSheet): Described {
  const read = (name: string) => {
    const value = attributes.includes('=') ? attribute(attributes, name) : null
    return value === null ? null : decodeEntities(value.slice(0, ATTRIBUTE_MAX))
  }
  const named: Named = { tag, id: read('id') ?? '', classes: classesOf(read('class')) }
  const own = looksOf(outer.looks, sheet.next(read('style'), outer.looks.variables), {
    hidden: attribute(attributes, 'hidden') !== null || isShut(tag, attributes),
    bgcolor: read('bgcolor'),
    background: read('background'),
    colour: tag === 'font' ? read('color') : tag === 'body' ? read('text') : null,
    isPage: tag === 'html' || tag === 'body',
  })
  const looks = tag === 'html' ? withBody(own, sheet) : own
  const mark = markOf(named, tag === 'blockquote' ? read('type') : null)
  return {
    ...named,
    looks,
    mark,
    isUnseen: outer.isUnseen || UNSEEN.has(tag),
    isPre: outer.isPre || tag === 'pre',
    quoted: outer.quoted || mark === 'quote',
    signature: outer.signature || mark === 'signature',
    cited: outer.cited || tag === 'blockquote',
    count: tag === 'ol' ? 0 : null,
  }
}

/** `dialog` and popovers are hidden initially. */
function isShut(tag: string, attributes: string): boolean {
  if (tag === 'dialog') return attribute(attributes, 'open') === null
  return attributes.includes('popover') && attribute(attributes, 'popover') !== null
}
