// Reads the size of images from their headers, without decoding them.

import { type ExtractedContent, extractedContent } from './extracted-content.ts'
import { readXml, xmlAttribute } from './xml.ts'

/** Bytes searched for boxes and directories. */
const SEARCH_BYTES_MAX = 1024 * 1024
const STEPS_MAX = 10_000

interface Size {
  format: string
  width: number
  height: number
}

/** @returns null when it is not a supported image */
export function readImage(bytes: Uint8Array): ExtractedContent | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SEARCH_BYTES_MAX))
  const size =
    pngSize(view) ??
    gifSize(view) ??
    bmpSize(view) ??
    webpSize(view) ??
    jpegSize(view) ??
    tiffSize(view) ??
    heifSize(view)
  return size && extractedContent('image', { metadata: { ...size } })
}

/** @returns null when the drawing has no size */
export function svgSize(xml: string): ExtractedContent | null {
  let size: Size | null = null
  readXml(xml.slice(0, SEARCH_BYTES_MAX), {
    open(name, attributes) {
      if (size !== null || name.slice(name.indexOf(':') + 1) !== 'svg') return
      const [width, height] = ['width', 'height'].map((each) => Number.parseFloat(xmlAttribute(attributes, each) ?? ''))
      const box = (xmlAttribute(attributes, 'viewBox') ?? '')
        .trim()
        .split(/[\s,]+/)
        .map(Number)
      const found = {
        width: Number.isFinite(width!) ? width! : box[2]!,
        height: Number.isFinite(height!) ? height! : box[3]!,
      }
      if (found.width > 0 && found.height > 0) size = { format: 'svg', ...found }
    },
    text: () => size === null,
  })
  return size && extractedContent('image', { metadata: { ...(size as Size) } })
}

const ascii = (view: DataView, at: number, length: number): string =>
  at + length > view.byteLength ? '' : String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length))

function pngSize(view: DataView): Size | null {
  if (view.byteLength < 24 || ascii(view, 1, 3) !== 'PNG' || ascii(view, 12, 4) !== 'IHDR') return null
  return { format: 'png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gifSize(view: DataView): Size | null {
  if (view.byteLength < 10 || !/^GIF8[79]a$/.test(ascii(view, 0, 6))) return null
  return { format: 'gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

function bmpSize(view: DataView): Size | null {
  if (view.byteLength < 26 || ascii(view, 0, 2) !== 'BM') return null
  if (view.getUint32(14, true) === 12)
    return { format: 'bmp', width: view.getUint16(18, true), height: view.getUint16(20, true) }
  // A negative height means that rows are stored top-down.
  return { format: 'bmp', width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) }
}

function webpSize(view: DataView): Size | null {
  if (view.byteLength < 30 || ascii(view, 0, 4) !== 'RIFF' || ascii(view, 8, 4) !== 'WEBP') return null
  const uint24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536
  const form = ascii(view, 12, 4)
  if (form === 'VP8X') return { format: 'webp', width: uint24(24) + 1, height: uint24(27) + 1 }
  if (form === 'VP8 ')
    return { format: 'webp', width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (form !== 'VP8L') return null
  const bits = view.getUint32(21, true)
  return { format: 'webp', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** Reads the first frame header (SOF). */
function jpegSize(view: DataView): Size | null {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null
  let at = 2
  for (let steps = 0; steps < STEPS_MAX && at + 9 <= view.byteLength; steps++) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) at++
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { format: 'jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else at += 2 + view.getUint16(at + 2)
  }
  return null
}

function tiffSize(view: DataView): Size | null {
  if (view.byteLength < 8 || !/^(?:II\*\0|MM\0\*)$/.test(ascii(view, 0, 4))) return null
  const little = ascii(view, 0, 2) === 'II'
  const directory = view.getUint32(4, little)
  if (directory + 2 > view.byteLength) return null
  let [width, height] = [0, 0]
  for (let entry = 0; entry < view.getUint16(directory, little); entry++) {
    const at = directory + 2 + entry * 12
    if (at + 12 > view.byteLength) break
    const value = view.getUint16(at + 2, little) === 3 ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little)
    if (view.getUint16(at, little) === 256) width = value
    if (view.getUint16(at, little) === 257) height = value
  }
  return width > 0 && height > 0 ? { format: 'tiff', width, height } : null
}

/** HEIF and AVIF: the largest `ispe` box; tiles and thumbnails are smaller. */
function heifSize(view: DataView): Size | null {
  if (ascii(view, 4, 4) !== 'ftyp') return null
  const brand = ascii(view, 8, 4)
  const format = /^avi[fs]$/.test(brand) ? 'avif' : /^(?:hei[cxms]|hev[cx]|mif1|msf1)$/.test(brand) ? 'heic' : null
  if (format === null) return null
  let size: Size | null = null
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength)
  for (
    let at = bytes.indexOf('ispe'), steps = 0;
    at >= 0 && steps < STEPS_MAX;
    at = bytes.indexOf('ispe', at + 4), steps++
  ) {
    if (at + 16 > bytes.length) break
    const [width, height] = [view.getUint32(at + 8), view.getUint32(at + 12)]
    if (size === null || width * height > size.width * size.height) size = { format, width, height }
  }
  return size
}
