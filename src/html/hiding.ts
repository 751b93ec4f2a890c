// Whether the properties of an element hide what is in it, apart from its colours.

import { partsOf } from './css/shorthands.ts'
import { pixelsOf } from './lengths.ts'

export type Properties = ReadonlyMap<string, string>

/** Text up to this size in pixels counts as hidden. */
export const TINY_PX = 2
export const OPACITY_MIN = 0.06
/** Content scaled to this factor or less counts as hidden. */
const SCALE_MIN = 0.08
/** Negative letter-spacing of this share of the font size makes characters overlap. */
const CROWDED_EM = 0.4
/** Offsets in pixels beyond the left, top or right edge from which content counts as off-screen. */
const FAR_BEFORE_PX = 500
const FAR_BEHIND_PX = 3000

const WIDE = /^(?:initial|unset|revert)$/

export function isGone(styles: Properties, fontSize: number, hasHidden: boolean): boolean {
  const display = styles.get('display')
  const isShown = display !== undefined && display !== 'revert'
  if (isShown ? display === 'none' : hasHidden) return true
  return hasUnusual(styles) && (isFaded(styles) || isOutside(styles, fontSize) || isShut(styles, fontSize))
}

/** Fast path: most elements only set font and colours. */
const USUAL = new Set(['display', 'visibility', 'font-size', 'color', 'background-color', 'background-image'])

function hasUnusual(styles: Properties): boolean {
  for (const name of styles.keys()) if (!USUAL.has(name)) return true
  return false
}

/** `visibility` of an element inside one that has it or not. */
export function isInvisible(styles: Properties, outer: boolean): boolean {
  const visibility = styles.get('visibility')
  if (visibility === undefined || /^(?:inherit|unset|revert)$/.test(visibility)) return outer
  return visibility !== 'visible' && visibility !== 'initial'
}

/** Share of what is behind it that an element does not let through, from 0 to 1. */
export function opacityOf(styles: Properties): number {
  const value = styles.get('opacity')
  const opacity = value === undefined ? 1 : (pixelsOf(value, 1) ?? 1)
  return Math.min(Math.max(opacity, 0), 1)
}

export function fontSizeOf(styles: Properties, outer: number): number {
  const value = styles.get('font-size')
  if (value === undefined) return outer
  if (value === 'initial' || value === 'revert') return 16
  // A keyword ("small", "larger") counts as a readable size, also inside a tiny element.
  if (/^[a-z-]+$/.test(value)) return value === 'inherit' || value === 'unset' ? outer : Math.max(outer, 10)
  return Math.max(pixelsOf(value, outer) ?? outer, 0)
}

/** Pixels between letters beyond their own room. */
export function letterSpacingOf(styles: Properties, fontSize: number, outer: number): number {
  const value = styles.get('letter-spacing')
  if (value === undefined || value === 'inherit' || value === 'unset') return outer
  return pixelsOf(value, fontSize) ?? 0
}

export function isCrowded(letterSpacing: number, fontSize: number): boolean {
  return letterSpacing <= -CROWDED_EM * fontSize
}

/** How much an element is enlarged. Some programs write `zoom: 0%` on the body, which means no zoom. */
export function zoomOf(styles: Properties, isPage: boolean): number {
  const value = styles.get('zoom')
  const zoom = value === undefined ? null : pixelsOf(value, 1)
  return zoom === null || (zoom <= 0 && isPage) ? 1 : Math.max(zoom, 0)
}

function isFaded(styles: Properties): boolean {
  if (opacityOf(styles) < OPACITY_MIN) return true
  if (styles.get('content-visibility') === 'hidden') return true
  return /opacity\(\s*0*(?:\.0\d*)?%?\s*\)/.test(styles.get('filter') ?? '')
}

/** Positioned off-screen, or clipped. */
function isOutside(styles: Properties, fontSize: number): boolean {
  const far = (name: string) => farOf(styles.get(name), fontSize)
  const isPlaced = /^(?:absolute|fixed|relative|sticky)/.test(styles.get('position') ?? '')
  if (isPlaced && ['left', 'top', 'right', 'bottom'].some((name) => far(name) !== 0)) return true
  if (far('text-indent') !== 0 || far('margin-left') < 0 || far('margin-top') < 0) return true
  if (isMoved(styles, fontSize)) return true
  return isClipped(styles.get('clip') ?? '', styles.get('clip-path') ?? '')
}

/** Distance beyond the edge of the page; 0 within it. */
function farOf(value: string | undefined, fontSize: number): number {
  const px = value === undefined || value.endsWith('%') ? null : pixelsOf(value, fontSize)
  return px !== null && (px <= -FAR_BEFORE_PX || px >= FAR_BEHIND_PX) ? px : 0
}

function isMoved(styles: Properties, fontSize: number): boolean {
  const isFar = (text: string) => partsOf(text.replaceAll(',', ' ')).some((part) => farOf(part, fontSize) !== 0)
  const isSmall = (text: string) => {
    const factors = partsOf(text.replaceAll(',', ' '))
    return factors.slice(0, 2).some((part) => Math.abs(pixelsOf(part, 1) ?? 1) < SCALE_MIN)
  }
  if (isFar(styles.get('translate') ?? '') || isSmall(styles.get('scale') ?? '')) return true
  for (const [, name, given] of (styles.get('transform') ?? '').matchAll(/([a-z0-9]{1,20})\(([^()]{0,200})/g)) {
    if (/^scale(?:3d|x|y)?$/.test(name!) && isSmall(given!)) return true
    if (/^translate(?:3d|x|y)?$/.test(name!) && isFar(given!)) return true
    if (/^rotate[xy]$/.test(name!) && /^\s*-?(?:90|270)deg/.test(given!)) return true
    if (name === 'matrix' && isFlat(given!)) return true
  }
  return false
}

/** A matrix that scales an area to zero. */
function isFlat(given: string): boolean {
  const [a = 1, b = 0, c = 0, d = 1] = given.split(',').map(Number)
  return Math.abs(a * d - b * c) < SCALE_MIN * SCALE_MIN
}

function isClipped(clip: string, path: string): boolean {
  if (/rect\(\s*(?:[01](?:px)?[, ]+){3}[01](?:px)?\s*\)/.test(clip)) return true
  if (/(?:circle|ellipse)\(\s*0|polygon\((?:\s*0(?:px|%)?\s*,?)+\)/.test(path)) return true
  const inset = /inset\(([^()]{0,100})/.exec(path)?.[1]
  if (inset === undefined) return false
  const share = (part: string | undefined) => (part?.endsWith('%') ? Number.parseFloat(part) : 0)
  const [top, right = top, bottom = top, left = right] = partsOf(inset.split('round')[0]!)
  return share(top) + share(bottom) >= 100 || share(left) + share(right) >= 100
}

/** A box of zero size with hidden overflow. */
function isShut(styles: Properties, fontSize: number): boolean {
  const overflow = ['overflow-x', 'overflow-y'].some((name) =>
    /^(?:hidden|clip|scroll|auto)/.test(styles.get(name) ?? ''),
  )
  if (!overflow) return false
  const small = (name: string) => {
    const px = pixelsOf(styles.get(name) ?? 'auto', fontSize)
    return px !== null && px <= 1
  }
  if (['height', 'max-height', 'width', 'max-width'].some(small)) return true
  const height = styles.get('height')
  return small('line-height') && (height === undefined || height === 'auto' || WIDE.test(height))
}
