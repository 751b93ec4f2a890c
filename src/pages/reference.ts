// The API reference: one page with the only script of the appliance, Scalar's, served from docs/reference (see src/README.md).

import { createReadStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { bytes, page, route } from '../http/route.ts'
import { docBar, docHead } from './doc-frame.ts'
import { DOCS_FOLDER } from './doc-pages.ts'
import { html } from './markup.ts'

/** What scripts/reference.ts wrote down of the file it took from the npm package. */
interface Manifest {
  version: string
  /** SHA-256 of the script, before compression. */
  sha256: string
  /** SHA-256 of each <style> element the script adds, for the policy of the page. */
  styles: readonly string[]
}

const FOLDER = join(DOCS_FOLDER, 'reference')
const SCRIPT = join(FOLDER, 'scalar.js.gz')
const manifest = JSON.parse(readFileSync(join(FOLDER, 'scalar.json'), 'utf8')) as Manifest
/** The version is part of the path, so that browsers may keep the file for ever. */
const SCRIPT_PATH = `/docs/api/scalar-${manifest.version}.js`

/** <style> elements are allowed by hash; `style` attributes cannot be, and execute nothing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src-elem 'self' ${manifest.styles.map((hash) => `'sha256-${hash}'`).join(' ')}`,
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const CONFIGURATION = {
  url: '/docs/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideTestRequestButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  defaultOpenFirstTag: false,
  hideModels: true,
}

/** Without it browsers ask for /favicon.ico. */
const NO_ICON = html`<link rel="icon" href="data:,">`

/** @param style path of the stylesheet */
export function referencePage(style: string) {
  const text = html`<!doctype html>
<html lang="en">${docHead('API reference - Mailstead documentation', style, NO_ICON)}
<body>${docBar('/docs/api')}<noscript><h1>API reference</h1><p>This page needs JavaScript. The same description for programs: <a href="/docs/openapi.json">openapi.json</a> (OpenAPI 3.1).</p></noscript>
<script id="api-reference" data-configuration="${JSON.stringify(CONFIGURATION)}"></script><script src="${SCRIPT_PATH}"></script></body></html>
`.text
  return page({
    status: 200,
    html: text,
    headers: { 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' },
  })
}

export const referenceScript = route({
  method: 'GET',
  path: SCRIPT_PATH,
  root: true,
  docs: {
    hidden: true,
    operation: 'getReferenceScript',
    tag: 'Pages',
    summary: 'The script of the API reference, compressed.',
  },
  access: { as: 'none' },
  reply: { types: ['text/javascript'], schema: Type.Unknown() },
  handle() {
    return bytes({
      type: 'text/javascript; charset=utf-8',
      sizeBytes: statSync(SCRIPT).size,
      etag: `W/"${manifest.sha256.slice(0, 16)}"`,
      headers: { 'Content-Encoding': 'gzip', 'Cache-Control': 'public, max-age=31536000, immutable' },
      read: (start, end) => createReadStream(SCRIPT, { start, end: end - 1 }),
    })
  },
})
