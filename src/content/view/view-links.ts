// The links of a message, with where they really lead, and what speaks against them.

import { isIP } from 'node:net'
import { getDomain } from 'tldts'
import { isMismatched, isSuspect } from '../../html/links.ts'
import { isHomoglyph } from '../clean/homoglyphs.ts'

/** Links whose facts are listed, and characters of an address and of a text. */
export const LINKS_MAX = 500
const ADDRESS_MAX = 2048
const TEXT_MAX = 300

export const LINK_WARNINGS = ['mismatch', 'homoglyph', 'address', 'user_info', 'shortener'] as const
export type LinkWarning = (typeof LINK_WARNINGS)[number]

export interface ViewLink {
  n: number
  text: string
  href: string
  /** Host of an http or https address; null for others. */
  host: string | null
  /** Its registrable part, such as "shop.co.uk"; null where it has none. */
  registrable: string | null
  warning: LinkWarning | null
}

/** The address of a link as a browser would take it; null for a scheme that is not opened. */
export function linkAddress(written: string): string | null {
  const text = written
    .slice(0, ADDRESS_MAX + 1)
    .replace(/[\u0000-\u001f\u007f]/g, '')
    .trim()
  if (text.length > ADDRESS_MAX) return null
  if (/^(?:mailto|tel):./i.test(text)) return text
  const absolute = /^[/\\]{2}/.test(text) ? `https:${text}` : text
  if (!/^https?:/i.test(absolute)) return null
  const url = URL.parse(absolute)
  return url === null || url.hostname === '' || url.href.length > ADDRESS_MAX * 3 ? null : url.href
}

/** Collects the links of a document in its order. */
export class ViewLinks {
  readonly list: ViewLink[] = []

  /** @returns the link, whose text grows while it is read; null beyond LINKS_MAX */
  open(href: string): ViewLink | null {
    if (this.list.length >= LINKS_MAX) return null
    const url = /^https?:/i.test(href) ? URL.parse(href) : null
    const host = url?.hostname ?? null
    const registrable = host === null ? null : getDomain(host)
    const link = { n: this.list.length, text: '', href, host, registrable, warning: url && addressWarning(url) }
    this.list.push(link)
    return link
  }

  add(link: ViewLink, text: string): void {
    if (link.text.length < TEXT_MAX) link.text = (link.text + text).slice(0, TEXT_MAX)
  }

  close(link: ViewLink): void {
    link.text = link.text.replace(/\s+/g, ' ').trim().toWellFormed()
    if (link.host !== null && isMismatched({ host: link.host, label: link.text })) link.warning = 'mismatch'
  }
}

/** What an address alone shows; the text of the link weighs more. */
function addressWarning({ hostname, username, password }: URL): LinkWarning | null {
  if (isHomoglyph(hostname)) return 'homoglyph'
  if (username !== '' || password !== '') return 'user_info'
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return 'address'
  return isSuspect(hostname) ? 'shortener' : null
}
