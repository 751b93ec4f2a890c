// Facts about what a message claims to be: brands, look-alike domains, replies that go elsewhere, mixed scripts.

import { getDomain } from 'tldts'
import { domainOf } from '../../mime/address.ts'
import { areRelated, visibleForm } from '../../mime/display-name.ts'
import { type Fact, factOf } from '../catalog.ts'
import { BRANDS } from '../lists/brands.ts'
import { FREE_MAIL } from '../lists/hosts.ts'
import type { SpamMaterial } from '../material.ts'
import { ImitatedNames, latinForm, mixesScripts } from './look-alikes.ts'

/** Domains of a message that are compared with those of brands. */
const DOMAINS_MAX = 20
const DETAIL_MAX = 40

const BRAND_DOMAINS = new Set([...BRANDS.values()].flat())
const BRAND_NAMES = new ImitatedNames(BRAND_DOMAINS)

/** @param isList true for a mailing list, which sets Reply-To itself */
export function claimFacts(material: SpamMaterial, isList: boolean): Fact[] {
  const facts: Fact[] = []
  const { message } = material
  const from = siteOf(domainOf(message.from[0]?.email ?? ''))
  const name = latinForm(visibleForm(message.from[0]?.name ?? ''))
  const claimed = brandIn(name)
  if (claimed !== null && from !== '' && !isOf(claimed, from)) facts.push(factOf('brand_claimed', claimed))
  else {
    const named = brandIn(latinForm(visibleForm(message.subject)))
    const sites = [from, ...material.links.map(({ host }) => siteOf(host))]
    if (named !== null && material.links.length > 0 && !sites.some((site) => isOf(named, site)))
      facts.push(factOf('brand_in_subject', named))
  }
  const alike = lookAlike(material, from)
  if (alike !== null) facts.push(factOf('lookalike_domain', alike))
  facts.push(...replyFacts(material, from, isList))
  const mixed = [message.from[0]?.name ?? '', message.subject, material.text]
    .map(mixedWord)
    .find((word) => word !== null)
  if (mixed) facts.push(factOf('mixed_scripts', mixed.slice(0, DETAIL_MAX)))
  return facts
}

/** The registered domain of a host name, in lower case. */
function siteOf(host: string): string {
  const name = host.toLowerCase()
  return getDomain(name) ?? name
}

/** The first brand that the text names: one word, or two next to each other. */
function brandIn(text: string): string | null {
  const words = text.split(/[^\p{L}\p{N}.+]+/u)
  for (const [at, word] of words.entries()) {
    const pair = `${word} ${words[at + 1] ?? ''}`
    if (BRANDS.has(pair)) return pair
    const plain = word.replace(/[.+]+$/, '')
    if (BRANDS.has(word)) return word
    if (BRANDS.has(plain)) return plain
  }
  return null
}

/** True when the brand sends from the domain, or the domain is its name under any top-level domain. */
function isOf(brand: string, site: string): boolean {
  if (site === '') return false
  if (BRANDS.get(brand)!.some((domain) => areRelated(site, domain))) return true
  return site.split('.')[0] === brand.replace(/[^\p{L}\p{N}]/gu, '')
}

function lookAlike({ message, links }: SpamMaterial, from: string): string | null {
  const replies = message.replyTo.map(({ email }) => siteOf(domainOf(email)))
  const sites = new Set([from, ...replies, ...links.map(({ host }) => siteOf(host))])
  const isAlike = (site: string) => site !== '' && !BRAND_DOMAINS.has(site) && BRAND_NAMES.isImitatedBy(site)
  return [...sites].slice(0, DOMAINS_MAX).find(isAlike) ?? null
}

function replyFacts({ message }: SpamMaterial, from: string, isList: boolean): Fact[] {
  const reply = message.replyTo[0]
  if (reply === undefined || isList || from === '') return []
  const site = siteOf(domainOf(reply.email))
  if (site === '' || site === from) return []
  return [factOf(FREE_MAIL.has(site) && !FREE_MAIL.has(from) ? 'reply_to_free_mail' : 'reply_to_elsewhere', site)]
}

/** A word with Latin letters and letters of Cyrillic or Greek that look like them. */
function mixedWord(text: string): string | null {
  if (!/[\u0370-\u03ff\u0400-\u04ff]/.test(text)) return null
  return text.split(/[^\p{L}\p{M}]+/u).find(mixesScripts) ?? null
}
