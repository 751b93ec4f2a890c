// Plain HTML pages that load nothing, not even the stylesheet of the other pages (site.ts): their URL holds a secret, or is unknown.

import { createHash } from 'node:crypto'
import type { ErrorPage } from '../http/request-context.ts'
import type { PageAnswer } from '../http/route.ts'
import { page } from '../http/route.ts'
import { ISOLATION } from './isolation.ts'
import { escaped } from './markup.ts'

export interface PageContent {
  title: string
  /** Each becomes a paragraph. */
  texts: readonly string[]
  /** Link below the text. */
  link?: { href: string; text: string } | null
}

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1.5rem;color:#222;background:#fff}' +
  'h1{font-size:1.5rem}a{color:#0b57d0}@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1b}a{color:#8ab4f8}}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  ...ISOLATION,
}

/** @param status 200 unless something went wrong */
export function htmlPage(content: PageContent, status = 200): PageAnswer {
  return page({ status, html: textOf(content), headers: HEADERS })
}

/** The page of an unknown address. @param next the address to go on with */
export const errorPage: ErrorPage = ({ error, status }, next) => {
  const title = status === 404 ? 'Page not found' : status >= 500 ? 'Something went wrong' : 'Request failed'
  const text = textOf({ title, texts: [error.message], link: { href: next, text: `Go to ${next}` } })
  return { status, type: 'text/html; charset=utf-8', text, headers: HEADERS }
}

/** The same page as a redirect (303). @param location a URL of this appliance */
export function onwardPage(content: PageContent, location: string): PageAnswer {
  const { html, headers } = htmlPage(content, 303)
  return page({ status: 303, html, headers: { ...headers, Location: location } })
}

function textOf(content: PageContent): string {
  const link =
    content.link == null ? [] : [`<p><a href="${escaped(content.link.href)}">${escaped(content.link.text)}</a></p>`]
  const body = [
    `<h1>${escaped(content.title)}</h1>`,
    ...content.texts.map((text) => `<p>${escaped(text)}</p>`),
    ...link,
  ]
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(content.title)} - Mailstead</title>`,
    `<style>${STYLE}</style>`,
  ]
  return `<!doctype html>\n<html lang="en"><head>${head.join('')}</head><body><main>${body.join('')}</main></body></html>\n`
}
