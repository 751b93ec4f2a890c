// Facts about the content of a message: links, forms, attachments, hidden text and pictures.

import { getDomain } from 'tldts'
import { type Fact, type FactName, factOf } from '../catalog.ts'
import { DOCUMENTS, MACROS, PAGES, PROGRAMS } from '../lists/files.ts'
import { FREE_HOSTS, REDIRECT_TARGET } from '../lists/hosts.ts'
import type { HtmlForm, SpamMaterial } from '../material.ts'

/** Hidden characters that are no preheader; newsletters hide up to some hundred. */
const HIDDEN_MIN = 1000
/** Visible characters of a message that is only a picture. */
const PICTURE_TEXT_MAX = 150
const ZERO_WIDTH_MIN = 3
const DETAIL_MAX = 100

/** Zero-width space, word joiner and byte order mark between Latin letters; joiners have a meaning in other scripts. */
const SPLIT_WORD = /[a-z](?:\u200b|\u200c|\u200d|\u2060|\ufeff)+(?=[a-z])/gi

/** Four or more single letters with one character between each; headings have one such run. */
const SPELLED_OUT = /(?<![\p{L}\p{N}])\p{L}(?:[ .*_-]\p{L}(?![\p{L}\p{N}])){3,}/gu
/** Letters of such runs in one message. */
const SPELLED_OUT_MIN = 80

export function contentFacts(material: SpamMaterial): Fact[] {
  return [...linkFacts(material), ...htmlFacts(material), ...attachmentFacts(material), ...textFacts(material)]
}

function linkFacts({ links }: SpamMaterial): Fact[] {
  const facts = new Map<FactName, Fact>()
  const add = (name: FactName, host: string) => {
    if (!facts.has(name)) facts.set(name, factOf(name, host.slice(0, DETAIL_MAX)))
  }
  for (const { host, target } of links) {
    if (isFreeHost(host)) add('link_free_hosting', host)
    if (REDIRECT_TARGET.test(target)) add('link_redirect', host)
    if (/^https?:[/\\]*[^/\\?#]*@/i.test(target)) add('link_user_name', host)
    if (host.startsWith('xn--') || host.includes('.xn--')) add('link_encoded_host', host)
  }
  return [...facts.values()]
}

function isFreeHost(host: string): boolean {
  if (FREE_HOSTS.has(host) || FREE_HOSTS.has(getDomain(host) ?? '')) return true
  const behind = host.slice(host.indexOf('.') + 1)
  return FREE_HOSTS.has(behind) || FREE_HOSTS.has(behind.slice(behind.indexOf('.') + 1))
}

function htmlFacts({ html, text }: SpamMaterial): Fact[] {
  if (html === null) return []
  const facts: Fact[] = []
  if (html.passwords > 0) facts.push(factOf('password_asked'))
  else if (html.forms > 0) facts.push(factOf('form_inside'))
  if (html.scripts + html.frames + html.refreshes > 0) facts.push(factOf('script_inside'))
  if (isMostlyHidden(html, text)) facts.push(factOf('text_hidden'))
  if (html.images > 0 && html.links.length > 0 && text.length < PICTURE_TEXT_MAX) facts.push(factOf('picture_only'))
  return facts
}

function isMostlyHidden({ textLength }: HtmlForm, text: string): boolean {
  const hidden = textLength - text.length
  return hidden > HIDDEN_MIN && hidden > 2 * text.length
}

function attachmentFacts({ message, encrypted }: SpamMaterial): Fact[] {
  const facts = new Map<FactName, Fact>()
  for (const filename of encrypted.slice(0, 1)) {
    facts.set('attachment_encrypted', factOf('attachment_encrypted', filename.slice(0, DETAIL_MAX)))
  }
  for (const { filename, contentType } of message.attachments) {
    const add = (name: FactName) => facts.set(name, factOf(name, filename.slice(0, DETAIL_MAX)))
    // A right-to-left override shows "exe.pdf" for "fdp.exe".
    if (/[\u202a-\u202e\u2066-\u2069]/.test(filename)) add('attachment_disguised')
    const [last = '', before = ''] = filename.toLowerCase().trim().split('.').slice(1).reverse()
    if (PROGRAMS.has(last)) {
      add('attachment_program')
      if (DOCUMENTS.has(before)) add('attachment_disguised')
    } else if (PAGES.has(last) || /^(?:text\/html|image\/svg\+xml)$/.test(contentType)) add('attachment_page')
    else if (MACROS.has(last)) add('attachment_macros')
  }
  return [...facts.values()]
}

function textFacts({ message, text }: SpamMaterial): Fact[] {
  const count = (message.subject.match(SPLIT_WORD)?.length ?? 0) + (text.match(SPLIT_WORD)?.length ?? 0)
  const facts = count >= ZERO_WIDTH_MIN ? [factOf('zero_width')] : []
  const spelled = (text.match(SPELLED_OUT) ?? []).reduce((sum, run) => sum + (run.length + 1) / 2, 0)
  return spelled >= SPELLED_OUT_MIN ? [...facts, factOf('spelled_out')] : facts
}
