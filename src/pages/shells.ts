// The pages of the web application: each is the same short document, whose script shows what the address names.

import { sha256 } from '../base/secrets.ts'
import { bytes, type Route, route } from '../http/route.ts'
import { ISOLATION } from './isolation.ts'
import { html, type Markup } from './markup.ts'
import { goTo, PAGE_ROUTE, sentences, sessionOf } from './site.ts'
import type { WebBuild, WebEntry } from './web-build.ts'

/** Paths of the console, by operation. */
const CONSOLE_PATHS: Readonly<Record<string, string>> = {
  showConsoleApp: '/console/{rest*}',
  showOperatorApp: '/operator/{rest*}',
  showPersonApp: '/me/{rest*}',
  showSignInApp: '/sign-in',
  showFirstRunApp: '/first-run',
}

/** The policy of the console: no inline script or style, no foreign host, no HTML from text (Trusted Types without a policy). */
const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = { 'Content-Security-Policy': CONSOLE_POLICY, ...ISOLATION, 'Cache-Control': 'no-cache' }
const UNAVAILABLE = 503

export function shellRoutes(build: WebBuild): Route[] {
  const pages = Object.entries(CONSOLE_PATHS).map(([operation, path]) =>
    route({
      ...PAGE_ROUTE,
      method: 'GET',
      path,
      docs: { ...PAGE_ROUTE.docs, operation, summary: 'A page of the console.' },
      handle: () => shellOf(build, 'console'),
    }),
  )
  return [...pages, home]
}

const home = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showHome',
    summary: 'Redirects to the console, to the page to sign in, or to the first run.',
  },
  handle({ app, request }) {
    if (sessionOf(app, request) !== undefined) return goTo('/console')
    return goTo(app.people.firstRun.isOpen() ? '/first-run' : '/sign-in')
  },
})

function shellOf(build: WebBuild, name: string) {
  const manifest = build.manifest()
  const entry = manifest?.entries[name]
  if (manifest === null || entry === undefined) {
    const text = 'The web application is not built. Run npm run build:web, then reload this page.'
    return sentences('Not built', [text], UNAVAILABLE)
  }
  const content = Buffer.from(shell(entry).text)
  return bytes({
    type: 'text/html; charset=utf-8',
    sizeBytes: content.length,
    etag: `W/"${sha256(content).toString('base64url').slice(0, 27)}"`,
    headers: HEADERS,
    async *read(start, end) {
      yield content.subarray(start, end)
    },
  })
}

function shell({ script, styles, preload = [], early, icon }: WebEntry): Markup {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark"><title>Mailstead</title><link rel="icon" href="${icon === undefined ? 'data:,' : `/assets/${icon}`}">
${early === undefined ? null : html`<script src="/assets/${early}"></script>`}
${styles.map((file) => html`<link rel="stylesheet" href="/assets/${file}">`)}
${preload.map((file) => html`<link rel="modulepreload" href="/assets/${file}">`)}
<script type="module" src="/assets/${script}"></script></head>
<body><div id="app"></div><noscript><p>The console needs JavaScript. Without it: <a href="/owner/keys">API keys</a>, <a href="/owner/agents">agents</a>, <a href="/docs">documentation</a>.</p></noscript></body></html>
`
}
