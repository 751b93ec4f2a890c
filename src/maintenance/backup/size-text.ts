// Sizes as people read them.

import type { Manifest } from './manifest.ts'

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Such as `12.3 MB`; a kilobyte is a thousand bytes. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}

/** What a backup holds, in words. */
export function holds({ messages, content_bytes: bytes }: Manifest['counts']): string {
  return `${messages} ${messages === 1 ? 'message' : 'messages'}, ${sizeText(bytes)} of mail`
}
