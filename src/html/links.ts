// Extracts the links of a message and detects suspicious ones.

import { isIP } from 'node:net'
import { getDomain, parse as parseHost } from 'tldts'
import { decodeEntities } from './entities.ts'
import { attribute, readHtml } from './tokens.ts'

/** Links of one message that are read, and characters of one link. */
export const LINKS_MAX = 1000
const URL_MAX = 2048
/** Characters of a link's visible text that are read. */
const LABEL_MAX = 300

export interface MessageLink {
  /** Host of the target, lower-case; IPv4 in any spelling as four numbers. */
  host: string
  /** The visible text, "" for a link in plain text. */
  label: string
}

const SHORTENERS = new Set(
  (
    'bit.ly tinyurl.com t.co goo.gl ow.ly is.gd v.gd buff.ly rebrand.ly cutt.ly shorturl.at tiny.cc t.ly rb.gy bl.ink s.id ' +
    'soo.gd clck.ru u.to adf.ly bit.do shorte.st lnkd.in tiny.one t2m.io dub.sh surl.li n9.cl urlz.fr'
  ).split(' '),
)

/** The links of an HTML text, in order, at most LINKS_MAX. */
export function htmlLinks(html: string): MessageLink[] {
  const links: MessageLink[] = []
  const hosts: Hosts = new Map()
  let open: MessageLink | null = null
  readHtml(html, {
    text(raw) {
      if (open && open.label.length < LABEL_MAX) open.label += decodeEntities(raw.slice(0, LABEL_MAX))
      return links.length < LINKS_MAX || open !== null
    },
    open(tag, attributes) {
      if (tag !== 'a' && tag !== 'area') return
      const host = hostOf(decodeEntities(attribute(attributes, 'href') ?? ''), hosts)
      open = host === null || links.length >= LINKS_MAX ? null : { host, label: '' }
      if (open) links.push(open)
    },
    close(tag) {
      if (tag === 'a') open = null
    },
  })
  return links
}

/** The links in a plain text, at most LINKS_MAX. */
export function textLinks(text: string): MessageLink[] {
  const links: MessageLink[] = []
  const hosts: Hosts = new Map()
  for (const [url] of text.matchAll(/\bhttps?:\/\/[^\s<>"'(){}]{1,300}/gi)) {
    const host = hostOf(url, hosts)
    if (host !== null) links.push({ host, label: '' })
    if (links.length >= LINKS_MAX) break
  }
  return links
}

/** True for hosts that hide the target of a link: IP addresses and URL shorteners. */
export function isSuspect(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || SHORTENERS.has(host.replace(/^www\./, ''))
}

/** True when the visible text is a URL of another site than the target. */
export function isMismatched({ host, label }: MessageLink): boolean {
  const shown = /^\s*(?:https?:\/\/)?((?:[\p{L}\p{N}-]{1,63}\.)+[\p{L}\p{N}-]{2,63})(?=[\s/:?#.,]|$)/iu.exec(label)?.[1]
  if (shown === undefined || shown.toLowerCase() === host || label.includes('@')) return false
  const named = parseHost(shown)
  return named.isIcann === true && named.domain !== null && named.domain !== getDomain(host)
}

/** Cache of hosts by URL prefix, for one message: its links mostly have few hosts. */
type Hosts = Map<string, string | null>

/** As browsers do: white space inside a URL is removed, and a backslash is a slash. */
function hostOf(url: string, hosts: Hosts): string | null {
  const origin = /^https?:[/\\]*[^/\\?#]+/i.exec(
    url
      .slice(0, URL_MAX)
      .replace(/[\t\r\n]/g, '')
      .trim(),
  )?.[0]
  if (origin === undefined) return null
  const known = hosts.get(origin)
  if (known !== undefined) return known
  const host = URL.parse(origin)?.hostname || null
  hosts.set(origin, host)
  return host
}
