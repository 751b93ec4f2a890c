// Whether a reader sees the text of an element, by everything that hides text in mails.

import { type Colour, isLost, parseColour } from './colour.ts'
import type { Declarations } from './style-sheet.ts'

/** What an element has of the ones around it. */
export interface Looks {
  /** Nothing inside can be seen, whatever it says itself. */
  gone: boolean
  /** `visibility`, which an inner element may turn back on. */
  invisible: boolean
  /** Pixels. */
  fontSize: number
  /** Null where nobody said. */
  colour: Colour | null
  /** What lies behind the text; null where it cannot be told (a picture). */
  behind: Colour | null
}

const WHITE: Colour = { red: 255, green: 255, blue: 255, alpha: 1 }

/** A page nobody has styled. */
export const PLAIN: Looks = { gone: false, invisible: false, fontSize: 16, colour: null, behind: WHITE }

/** Text of up to so many pixels is not read by anybody. */
export const TINY_PX = 2
const OPACITY_MIN = 0.06
/** Pixels to the left of or above the page, or to the right of it, from which something lies where nobody scrolls. */
const FAR_BEFORE_PX = 500
const FAR_BEHIND_PX = 3000

/** Attributes of an element that say how it looks; null where it has none of the name. */
export interface OldLooks {
  hidden: boolean
  bgcolor: string | null
  background: string | null
  colour: string | null
}

/** How an element looks inside another one. */
export function looksOf(outer: Looks, styles: Declarations, old: OldLooks): Looks {
  const fontSize = fontSizeOf(styles, outer.fontSize)
  const display = styles.get('display') ?? (old.hidden ? 'none' : '')
  const visibility = styles.get('visibility')
  return {
    gone: outer.gone || display === 'none' || (hasUnusual(styles) && isAway(styles, fontSize)),
    invisible: visibility === undefined || visibility === 'inherit' ? outer.invisible : visibility !== 'visible',
    fontSize,
    colour: colourOf(styles, old, outer.colour),
    behind: behindOf(styles, old, outer.behind),
  }
}

/** True when text in it can be seen. */
export function isSeen({ gone, invisible, fontSize, colour, behind }: Looks): boolean {
  if (gone || invisible || fontSize <= TINY_PX) return false
  if (colour === null) return true
  return behind === null ? colour.alpha >= OPACITY_MIN : !isLost(colour, behind)
}

/** Most elements say nothing but of their type, size and colours. */
const USUAL = new Set([
  'display',
  'visibility',
  'font-size',
  'font',
  'color',
  'background',
  'background-color',
  'background-image',
])

function hasUnusual(styles: Declarations): boolean {
  for (const name of styles.keys()) if (!USUAL.has(name)) return true
  return false
}

function isAway(styles: Declarations, fontSize: number): boolean {
  return isFaded(styles) || isOutside(styles, fontSize) || isShut(styles, fontSize)
}

function isFaded(styles: Declarations): boolean {
  const opacity = Number.parseFloat(styles.get('opacity') ?? '1')
  if (opacity < OPACITY_MIN) return true
  if (/^hidden/.test(styles.get('content-visibility') ?? '')) return true
  return /opacity\(\s*0*(?:\.0\d*)?%?\s*\)/.test(styles.get('filter') ?? '')
}

/** Moved out of the page, or cut away. */
function isOutside(styles: Declarations, fontSize: number): boolean {
  const far = (name: string) => {
    const value = styles.get(name)
    const px = value === undefined ? null : lengthOf(value, fontSize)
    return px !== null && (px <= -FAR_BEFORE_PX || px >= FAR_BEHIND_PX) ? px : 0
  }
  const isPlaced = /^(?:absolute|fixed|relative)/.test(styles.get('position') ?? '')
  if (isPlaced && (far('left') !== 0 || far('top') !== 0 || far('right') !== 0 || far('bottom') !== 0)) return true
  if (far('text-indent') !== 0 || far('margin-left') < 0 || far('margin-top') < 0) return true
  const transform = styles.get('transform') ?? ''
  if (/scale[xy]?\(\s*0(?:\.0*)?\s*[,)]/.test(transform) || /translate[xy3d]*\([^)]{0,40}\d{4,}/.test(transform))
    return true
  const cut = `${styles.get('clip') ?? ''} ${styles.get('clip-path') ?? ''}`
  return /rect\(\s*(?:[01](?:px)?[, ]+){3}[01](?:px)?\s*\)|inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0/.test(cut)
}

/** A box without room that shows nothing beyond itself. */
function isShut(styles: Declarations, fontSize: number): boolean {
  const overflow = styles.get('overflow') ?? styles.get('overflow-y') ?? styles.get('overflow-x') ?? ''
  if (!/^(?:hidden|clip)/.test(overflow)) return false
  return ['height', 'max-height', 'width', 'max-width'].some((name) => {
    const px = lengthOf(styles.get(name) ?? '', fontSize)
    return px !== null && px <= 1
  })
}

function fontSizeOf(styles: Declarations, outer: number): number {
  const font = styles.get('font')
  const value =
    styles.get('font-size') ?? (font === undefined ? undefined : /(?:^|\s)(\d[\w.%]*)(?:\/|\s|$)/.exec(font)?.[1])
  if (value === undefined) return outer
  // A word ("small", "larger") is a size people read; inside something tiny it is one as well.
  if (/^[a-z-]+$/.test(value)) return value === 'inherit' ? outer : Math.max(outer, 10)
  return lengthOf(value, outer) ?? outer
}

/** A length in pixels; a share is one of `em`. @returns null for what cannot be told */
function lengthOf(text: string, em: number): number | null {
  const found = /^([+-]?(?:\d{1,7}(?:\.\d{0,9})?|\.\d{1,9}))\s?(px|pt|em|ex|rem|%|in|cm|mm|pc|vw|vh)?$/.exec(text)
  if (found === null) return null
  const units: Record<string, number> = { px: 1, pt: 4 / 3, in: 96, cm: 37.8, mm: 3.78, pc: 16, rem: 16, vw: 12, vh: 8 }
  const unit = found[2] ?? 'px'
  const factor = unit === '%' ? em / 100 : unit === 'em' ? em : unit === 'ex' ? em / 2 : units[unit]!
  return Number(found[1]) * factor
}

function colourOf(styles: Declarations, old: OldLooks, outer: Colour | null): Colour | null {
  const value = styles.get('-webkit-text-fill-color') ?? styles.get('color') ?? old.colour?.trim().toLowerCase()
  if (value === undefined || value === 'inherit') return outer
  // A colour nobody can tell here is none to judge by.
  return parseColour(value)
}

function behindOf(styles: Declarations, old: OldLooks, outer: Colour | null): Colour | null {
  const picture = `${styles.get('background') ?? ''} ${styles.get('background-image') ?? ''}`
  if (old.background !== null || /url\(|gradient\(/.test(picture)) return null
  const said = styles.get('background-color') ?? styles.get('background') ?? old.bgcolor?.trim().toLowerCase()
  if (said === undefined) return outer
  const colour = parseColour(said) ?? parseColour(said.split(' ', 1)[0]!)
  if (colour === null) return /^(?:none|inherit|initial|unset|0)\b/.test(said) ? outer : null
  return colour.alpha < 0.5 ? outer : colour
}
