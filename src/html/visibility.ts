// Decides whether the text of an element is visible, considering all common techniques of hiding text in messages.

import { type Colour, isLost, parseColour } from './colour.ts'
import type { Styles } from './css/style-sheet.ts'
import type { Variables } from './css/values.ts'
import {
  fontSizeOf,
  isCrowded,
  isGone,
  isInvisible,
  letterSpacingOf,
  OPACITY_MIN,
  opacityOf,
  type Properties,
  TINY_PX,
  zoomOf,
} from './hiding.ts'

/** Inherited state of an element. */
export interface Looks {
  /** Nothing inside is visible, regardless of its own styles. */
  gone: boolean
  /** `visibility`, which an inner element may turn back on. */
  invisible: boolean
  /** Pixels, before it is enlarged. */
  fontSize: number
  zoom: number
  /** From 0 to 1, of all that is around it. */
  opacity: number
  /** Pixels. */
  letterSpacing: number
  /** Null where not set. */
  colour: Colour | null
  /** What letters are filled with instead of their colour; null where that is their colour. */
  fill: Colour | null
  /** The background of the text; null where unknown (an image). */
  behind: Colour | null
  variables: Variables | null
}

const WHITE: Colour = { red: 255, green: 255, blue: 255, alpha: 1 }
const BLACK: Colour = { red: 0, green: 0, blue: 0, alpha: 1 }

/** An unstyled page. */
export const PLAIN: Looks = {
  ...{ gone: false, invisible: false, fontSize: 16, zoom: 1, opacity: 1, letterSpacing: 0 },
  ...{ colour: null, fill: null, behind: WHITE, variables: null },
}

/** Attributes of an element that say how it looks; null where it has none of the name. */
export interface OldLooks {
  hidden: boolean
  bgcolor: string | null
  background: string | null
  colour: string | null
  /** It is the page or its body. */
  isPage: boolean
}

/** How an element looks inside another one. */
export function looksOf(outer: Looks, { properties, variables }: Styles, old: OldLooks): Looks {
  const fontSize = fontSizeOf(properties, outer.fontSize)
  const opacity = outer.opacity * opacityOf(properties)
  const colour = colourOf(properties, old, outer.colour)
  return {
    gone: outer.gone || isGone(properties, fontSize, old.hidden) || opacity < OPACITY_MIN,
    invisible: isInvisible(properties, outer.invisible),
    fontSize,
    zoom: outer.zoom * zoomOf(properties, old.isPage),
    opacity,
    letterSpacing: letterSpacingOf(properties, fontSize, outer.letterSpacing),
    colour,
    fill: fillOf(properties, outer.fill),
    behind: behindOf(properties, old, outer.behind, colour),
    variables,
  }
}

/** True when text in it is visible. */
export function isSeen(looks: Looks): boolean {
  const { gone, invisible, fontSize, zoom, letterSpacing, behind } = looks
  if (gone || invisible || fontSize * zoom <= TINY_PX || isCrowded(letterSpacing, fontSize)) return false
  const colour = looks.fill ?? looks.colour
  if (colour === null) return true
  return behind === null ? colour.alpha >= OPACITY_MIN : !isLost(colour, behind)
}

const INHERITED = /^(?:inherit|unset|currentcolor)$/

function colourOf(styles: Properties, old: OldLooks, outer: Colour | null): Colour | null {
  const value = styles.get('color') ?? old.colour?.trim().toLowerCase()
  if (value === undefined || INHERITED.test(value)) return outer
  if (value === 'initial' || value === 'revert') return BLACK
  // An unknown colour is ignored.
  return parseColour(value)
}

function fillOf(styles: Properties, outer: Colour | null): Colour | null {
  const value = styles.get('-webkit-text-fill-color')
  if (value === undefined || value === 'inherit' || value === 'unset') return outer
  return parseColour(value)
}

function behindOf(styles: Properties, old: OldLooks, outer: Colour | null, own: Colour | null): Colour | null {
  const picture = styles.get('background-image') ?? ''
  if (old.background !== null || /(?:url|gradient|image-set|cross-fade|element)\(/.test(picture)) return null
  const said = styles.get('background-color') ?? old.bgcolor?.trim().toLowerCase()
  if (said === undefined || /^(?:none|inherit|initial|unset|revert|0)\b/.test(said)) return outer
  const colour = said === 'currentcolor' ? (own ?? BLACK) : parseColour(said)
  if (colour === null) return null
  return colour.alpha < 0.5 ? outer : colour
}
