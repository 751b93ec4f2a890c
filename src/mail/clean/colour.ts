// Colours as style sheets write them, and whether text of one colour can be seen on another.

/** Red, green and blue from 0 to 255, opacity from 0 to 1. */
export interface Colour {
  red: number
  green: number
  blue: number
  alpha: number
}

/** Names mails use, with their values in hexadecimal. */
const NAMED = new Map(
  (
    'black 000000 white ffffff red ff0000 lime 00ff00 green 008000 blue 0000ff yellow ffff00 cyan 00ffff aqua 00ffff magenta ff00ff ' +
    'fuchsia ff00ff silver c0c0c0 gray 808080 grey 808080 maroon 800000 olive 808000 purple 800080 teal 008080 navy 000080 ' +
    'orange ffa500 pink ffc0cb brown a52a2a gold ffd700 ivory fffff0 snow fffafa ghostwhite f8f8ff whitesmoke f5f5f5 ' +
    'floralwhite fffaf0 azure f0ffff mintcream f5fffa honeydew f0fff0 aliceblue f0f8ff lavender e6e6fa beige f5f5dc linen faf0e6 ' +
    'seashell fff5ee oldlace fdf5e6 lightyellow ffffe0 lightgray d3d3d3 lightgrey d3d3d3 gainsboro dcdcdc darkgray a9a9a9 ' +
    'darkgrey a9a9a9 dimgray 696969 dimgrey 696969 darkblue 00008b darkred 8b0000 darkgreen 006400 window ffffff windowtext 000000'
  )
    .split(' ')
    .flatMap((word, at, all) => (at % 2 === 0 ? [[word, all[at + 1]!] as const] : [])),
)

const NUMBER = '([\\d.]{1,8}%?)'
const RGB = new RegExp(`^rgba?\\(${NUMBER}[, ]{1,4}${NUMBER}[, ]{1,4}${NUMBER}(?:[,/ ]{1,4}${NUMBER})?\\)$`)

/** @param text without spaces at its ends, in lower case. @returns null for what is no colour, or one nobody can tell here */
export function parseColour(text: string): Colour | null {
  if (text === 'transparent') return { red: 0, green: 0, blue: 0, alpha: 0 }
  const hex = /^#([0-9a-f]{3,8})$/.exec(text)?.[1] ?? NAMED.get(text)
  if (hex !== undefined) return ofHex(hex)
  const found = RGB.exec(text.replace(/\s+/g, ' ').replace(/ ?([(),/]) ?/g, '$1'))
  if (found === null) return null
  const [red, green, blue] = found.slice(1, 4).map((text) => amount(text, 255))
  return { red: red!, green: green!, blue: blue!, alpha: found[4] === undefined ? 1 : amount(found[4], 1) }
}

function amount(text: string, whole: number): number {
  const value = text.endsWith('%') ? (Number.parseFloat(text) / 100) * whole : Number.parseFloat(text)
  return Math.min(Math.max(value, 0), whole)
}

function ofHex(text: string): Colour | null {
  const hex = text.length <= 4 ? [...text].map((digit) => digit + digit).join('') : text
  if (hex.length !== 6 && hex.length !== 8) return null
  const [red, green, blue, alpha] = [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2) || 'ff', 16))
  return { red: red!, green: green!, blue: blue!, alpha: alpha! / 255 }
}

/** Text is as good as not there when its colour is that of what lies behind it, or lets nearly all of that through. */
const OPAQUE_FROM = 0.06
const DIFFERENT_FROM = 32

export function isLost(text: Colour, behind: Colour): boolean {
  if (text.alpha < OPAQUE_FROM) return true
  const apart = (one: number, other: number) => Math.abs(one - other) * text.alpha
  const distance = apart(text.red, behind.red) + apart(text.green, behind.green) + apart(text.blue, behind.blue)
  return distance < DIFFERENT_FROM
}
