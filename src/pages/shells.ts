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

/** What the policies of all shells have: no inline script, no foreign host, no HTML from text (Trusted Types). */
const STRICT = [
  "default-src 'none'",
  "script-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
]

/**
 * One policy a shell. The console makes no HTML: it has no Trusted Types policy and no style but its sheets. The editor of messages has two
 * policies, which sanitize, and writes `style` attributes; style elements stay forbidden.
 */
const POLICIES = {
  console: [...STRICT, "style-src 'self'", "trusted-types 'none'"],
  mail: [
    ...STRICT,
    "style-src-elem 'self'",
    "style-src-attr 'unsafe-inline'",
    "media-src 'self' blob:",
    'trusted-types dompurify default',
  ],
} as const

type ShellName = keyof typeof POLICIES

const headersOf = (name: ShellName) => ({
  'Content-Security-Policy': POLICIES[name].join('; '),
  ...ISOLATION,
  'Cache-Control': 'no-cache',
})
const UNAVAILABLE = 503

export function shellRoutes(build: WebBuild): Route[] {
  const pageOf = (operation: string, path: string, name: ShellName) =>
    route({
      ...PAGE_ROUTE,
      method: 'GET',
      path,
      docs: { ...PAGE_ROUTE.docs, operation, summary: `A page of the ${name}.` },
      handle: () => shellOf(build, name),
    })
  const pages = Object.entries(CONSOLE_PATHS).map(([operation, path]) => pageOf(operation, path, 'console'))
  return [...pages, pageOf('showMailApp', '/mail/{rest*}', 'mail'), home]
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

function shellOf(build: WebBuild, name: ShellName) {
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
    headers: headersOf(name),
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
<body><div id="app"></div><noscript><p>These pages need JavaScript. Without it: <a href="/owner/keys">API keys</a>, <a href="/owner/agents">agents</a>, <a href="/docs">documentation</a>.</p></noscript></body></html>
`
}
