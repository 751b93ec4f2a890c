// Parses CSS colours, and decides whether text of one colour is visible on another.

import { rgb } from 'culori/css'

/** Red, green and blue from 0 to 255, opacity from 0 to 1. */
export interface Colour {
  red: number
  green: number
  blue: number
  alpha: number
}

/** Colours of the reader's system, as a light one has them (CSS Color 4, 6.2), and some of old mail programs. */
const SYSTEM = new Map<string, string>(
  Object.entries({
    ...{ canvas: '#fff', window: '#fff', field: '#fff', buttonface: '#efefef', canvastext: '#000', windowtext: '#000' },
    ...{ fieldtext: '#000', buttontext: '#000', linktext: '#0000ee', visitedtext: '#551a8b', graytext: '#808080' },
  }),
)

/** @param text without spaces at its ends, in lower case. @returns null for what is no colour, or one that depends on the environment */
export function parseColour(text: string): Colour | null {
  // A light page takes the first of the two (CSS Color 5, 5).
  const written = /^light-dark\(((?:[^(),]|\([^()]*\))+),/.exec(text)?.[1]?.trim() ?? text
  const found = rgb(SYSTEM.get(written) ?? written) ?? rgb(`#${written}`)
  if (found === undefined) return null
  const amount = (share: number) => Math.min(Math.max(share, 0), 1) * 255
  return { red: amount(found.r), green: amount(found.g), blue: amount(found.b), alpha: found.alpha ?? 1 }
}

/** Text is invisible when its colour equals the background, or is nearly transparent. */
const OPAQUE_FROM = 0.06
const DIFFERENT_FROM = 32

export function isLost(text: Colour, behind: Colour): boolean {
  if (text.alpha < OPAQUE_FROM) return true
  const apart = (one: number, other: number) => Math.abs(one - other) * text.alpha
  const distance = apart(text.red, behind.red) + apart(text.green, behind.green) + apart(text.blue, behind.blue)
  return distance < DIFFERENT_FROM
}
