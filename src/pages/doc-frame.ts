// The frame of every page of the documentation: bar, navigation, contents of the page, no script.

import { DOC_GROUPS, type DocEntry } from './doc-pages.ts'
import type { Heading } from './markdown.ts'
import { html, Markup } from './markup.ts'

/** An envelope under a roof, in one colour. */
const MARK = new Markup(
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round" aria-hidden="true"><path d="M3 9.5 12 3l9 6.5"/><rect x="4.5" y="10.5" width="15" height="10" rx="1.5"/><path d="m5 11.5 7 5 7-5"/></svg>',
)

export interface DocPage {
  title: string
  /** Path of the page itself. */
  path: string
  description: string
  headings: readonly Heading[]
  body: Markup
  previous?: DocEntry | undefined
  next?: DocEntry | undefined
}

/** The bar at the top. @param path of the page that is shown */
export function docBar(path: string): Markup {
  const links = [
    ['/docs/getting-started', 'Guide'],
    ['/docs/api', 'API'],
    ['/owner/sign-in', 'Sign in'],
  ].map(([href, text]) => html`<a href="${href!}"${current(href === path)}>${text!}</a>`)
  return html`<header class="bar"><a class="brand" href="/docs">${MARK} Mailstead</a> <span class="part">Documentation</span><nav aria-label="Site">${links}</nav></header>`
}

export function docHead(title: string, style: string, more: Markup | null = null): Markup {
  return html`<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${title}</title><link rel="stylesheet" href="${style}">${more}</head>`
}

/** @param style path of the stylesheet */
export function docPage(page: DocPage, style: string): string {
  const title = page.path === '/docs' ? 'Mailstead documentation' : `${page.title} - Mailstead documentation`
  const description = html`<meta name="description" content="${page.description}">`
  return html`<!doctype html>
<html lang="en">${docHead(title, style, description)}
<body><a class="skip" href="#this-page">Skip to the content</a>${docBar(page.path)}
<div class="layout"><nav class="side" aria-label="Documentation"><div>${navigation(page.path)}</div></nav>
<main id="this-page"><details class="small"><summary>All pages</summary>${navigation(page.path)}</details>
<h1>${page.title}</h1>
${contentsOnSmallScreens(page.headings)}${page.body}${turn(page)}</main>
${contents(page.headings)}</div></body></html>
`.text
}

function navigation(path: string): Markup {
  return join(
    DOC_GROUPS.map(({ title, entries }) => {
      const items = entries.map(
        (one) => html`<li><a href="${one.path}"${current(one.path === path)}>${one.label}</a></li>`,
      )
      return html`<h2>${title}</h2><ul>${items}</ul>`
    }),
  )
}

function contents(headings: readonly Heading[]): Markup {
  const items = itemsOf(headings)
  if (items.length < 2) return new Markup('')
  return html`<nav class="toc" aria-label="On this page"><div><h2>On this page</h2><ul>${items}</ul></div></nav>`
}

function contentsOnSmallScreens(headings: readonly Heading[]): Markup {
  const items = itemsOf(headings)
  if (items.length < 2) return new Markup('')
  return html`<details class="small onthis"><summary>On this page</summary><ul>${items}</ul></details>`
}

function itemsOf(headings: readonly Heading[]): Markup[] {
  return headings
    .filter(({ level }) => level === 2 || level === 3)
    .map(({ level, text, id }) => html`<li class="l${level}"><a href="#${id}">${text}</a></li>`)
}

function turn({ previous, next }: DocPage): Markup {
  const back = previous && html`<a href="${previous.path}" rel="prev"><span>Previous</span>${previous.label}</a>`
  const on = next && html`<a class="next" href="${next.path}" rel="next"><span>Next</span>${next.label}</a>`
  return html`<nav class="turn" aria-label="Pages before and after">${back ?? null}${on ?? null}</nav>`
}

function current(is: boolean): Markup | null {
  return is ? new Markup(' aria-current="page"') : null
}

function join(parts: readonly Markup[]): Markup {
  return new Markup(parts.map(({ text }) => text).join(''))
}
