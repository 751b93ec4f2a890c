// The documentation: the Markdown of docs/ as pages without a script, and the API reference.

import { Type } from 'typebox'
import { sha256 } from '../base/secrets.ts'
import { bytes, page, type Route, route } from '../http/route.ts'
import { docPage } from './doc-frame.ts'
import { DOC_ENTRIES, readDocument, readImage } from './doc-pages.ts'
import { DOC_STYLE, REFERENCE_STYLE } from './doc-style.ts'
import { referencePage, referenceScript } from './reference.ts'
import { PAGE_ROUTE } from './site.ts'

/** A stylesheet whose path changes with its content, so that browsers may keep it for ever. */
function stylesheet(operation: string, content: Buffer): { path: string; route: Route } {
  const tag = sha256(content).toString('base64url').slice(0, 16)
  const path = `/docs/${tag}.css`
  const served = route({
    method: 'GET',
    path,
    root: true,
    docs: {
      hidden: true,
      operation,
      tag: 'Pages',
      summary: 'A stylesheet of the documentation.',
    },
    access: { as: 'none' },
    limits: { uncounted: true },
    reply: { types: ['text/css'], schema: Type.Unknown() },
    handle() {
      return bytes({
        type: 'text/css; charset=utf-8',
        sizeBytes: content.length,
        etag: `W/"${tag}"`,
        headers: { 'Cache-Control': 'public, max-age=31536000, immutable' },
        async *read(start, end) {
          yield content.subarray(start, end)
        },
      })
    },
  })
  return { path, route: served }
}

const docStyle = stylesheet('getDocStylesheet', DOC_STYLE)
const referenceStyle = stylesheet('getReferenceStylesheet', REFERENCE_STYLE)

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
}

const PAGE = {
  method: 'GET',
  ...PAGE_ROUTE,
} as const

async function show(name: string) {
  const { title, summary, headings, body } = await readDocument(name)
  const index = DOC_ENTRIES.findIndex((one) => one.name === name)
  const [previous, next] = [DOC_ENTRIES[index - 1], DOC_ENTRIES[index + 1]]
  const { path } = DOC_ENTRIES[index]!
  const text = docPage({ title, path, description: summary, headings, body, previous, next }, docStyle.path)
  return page({ status: 200, html: text, headers: HEADERS })
}

const showOverview = route({
  ...PAGE,
  path: '/docs',
  docs: {
    ...PAGE.docs,
    operation: 'showDocs',
    summary: 'Shows the first page of the documentation.',
  },
  handle: () => show('README'),
})

const showDocument = route({
  ...PAGE,
  path: '/docs/{page}',
  docs: {
    ...PAGE.docs,
    operation: 'showDocument',
    summary: 'Shows one page of the documentation.',
  },
  params: Type.Object({ page: Type.String({ pattern: '^[a-z-]{1,40}$' }) }),
  handle: ({ params }) => show(params.page),
})

const showImage = route({
  method: 'GET',
  path: '/docs/images/{image}',
  root: true,
  docs: {
    hidden: true,
    operation: 'getDocImage',
    tag: 'Pages',
    summary: 'A picture of the documentation.',
  },
  access: { as: 'none' },
  limits: { uncounted: true },
  params: Type.Object({ image: Type.String({ pattern: '^[a-z-]{1,40}\\.png$' }) }),
  reply: { types: ['image/png'], schema: Type.Unknown() },
  async handle({ params }) {
    const content = await readImage(params.image)
    return bytes({
      type: 'image/png',
      sizeBytes: content.length,
      etag: `W/"${sha256(content).toString('base64url').slice(0, 16)}"`,
      headers: { 'Cache-Control': 'no-cache' },
      async *read(start, end) {
        yield content.subarray(start, end)
      },
    })
  },
})

const showReference = route({
  ...PAGE,
  path: '/docs/api',
  docs: {
    ...PAGE.docs,
    operation: 'showReference',
    summary: 'Shows the API reference.',
  },
  handle: () => referencePage(referenceStyle.path),
})

export const docPages: readonly Route[] = [
  showOverview,
  showReference,
  showDocument,
  showImage,
  referenceScript,
  docStyle.route,
  referenceStyle.route,
]
