// ETags, and the conditions of requests on them (docs/design/http.md §7).

import { hash } from 'node:crypto'
import { canonicalJson } from '../base/canonical-json.ts'
import { conflict } from '../base/errors.ts'

const TAG_LENGTH = 27
/** Of the tag of a {@link LiveVersion}, for its settings: 78 bits. */
const SETTINGS_LENGTH = 13
// One tag of a list: weak or strong, the opaque part in quotes (RFC 9110 §8.8.3).
const TAG = /^[ \t]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)/

// Immutable documents are frozen by their creator; their tag is computed once.
const known = new WeakMap<object, string>()

/** The version of a resource that also changes by itself: `If-None-Match` compares all of it, `If-Match` what clients change. */
export class LiveVersion {
  readonly data: unknown
  readonly settings: unknown

  constructor(data: unknown, settings: unknown) {
    this.data = data
    this.settings = settings
  }
}

/** The weak tag of data: equal for equal data, independent of the order of members. That of a {@link LiveVersion} begins with its settings. */
export function etagOf(data: unknown): string {
  if (data instanceof LiveVersion) return liveTag(data)
  const lasting = typeof data === 'object' && data !== null && Object.isFrozen(data)
  const before = lasting ? known.get(data) : undefined
  if (before !== undefined) return before
  const etag = `W/"${digestOf(data)}"`
  if (lasting) known.set(data, etag)
  return etag
}

/** The strong tag of bytes by their SHA-256. */
export function strongEtag(sha256: Uint8Array): string {
  return `"${Buffer.from(sha256).toString('base64url').slice(0, TAG_LENGTH)}"`
}

/** True when `If-None-Match` or `If-Match` contains the tag or `*`; weak comparison, as the specification requires. */
export function namesTag(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  return tagsOf(header).some((tag) => tag.opaque === opaqueOf(etag))
}

/** True when `If-Range` is exactly this strong tag (RFC 9110 §13.1.5: weak tags never match). */
export function namesStrongTag(header: string, etag: string): boolean {
  const [tag] = tagsOf(header)
  return tag !== undefined && !tag.weak && !etag.startsWith('W/') && tag.opaque === etag
}

/**
 * Checks `If-Match` against the present version of a resource.
 * @throws ProductError conflict when it names another version (docs/design/contract.md §7)
 */
export function expectMatch(header: string | undefined, version: unknown): void {
  if (header === undefined || header.trim() === '*') return
  const isNamed = version instanceof LiveVersion ? namesSettings(header, version) : namesTag(header, etagOf(version))
  if (!isNamed) throw conflict('Resource changed since it was read.', 'If-Match')
}

function liveTag({ settings, data }: LiveVersion): string {
  return `W/"${digestOf(settings).slice(0, SETTINGS_LENGTH)}${digestOf(data).slice(SETTINGS_LENGTH)}"`
}

function namesSettings(header: string, version: LiveVersion): boolean {
  const tag = opaqueOf(liveTag(version))
  const start = tag.slice(0, SETTINGS_LENGTH + 1)
  return tagsOf(header).some(({ opaque }) => opaque.length === tag.length && opaque.startsWith(start))
}

function digestOf(data: unknown): string {
  return hash('sha256', canonicalJson(data), 'base64url').slice(0, TAG_LENGTH)
}

function opaqueOf(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

function tagsOf(header: string): { weak: boolean; opaque: string }[] {
  const tags: { weak: boolean; opaque: string }[] = []
  let rest = header
  for (let match = TAG.exec(rest); match !== null && rest !== ''; match = TAG.exec(rest)) {
    tags.push({ weak: match[1] !== undefined, opaque: match[2]! })
    rest = rest.slice(match[0].length)
  }
  return tags
}
