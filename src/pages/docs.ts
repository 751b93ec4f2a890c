// Pages that explain: where things are, and what each error means (`doc_url` of every error leads here).

import { Type } from 'typebox'
import { ERRORS } from '../http/errors.ts'
import { type Route, route } from '../http/route.ts'
import { html } from './markup.ts'
import { goTo, showPageError, sitePage } from './site.ts'

const page = {
  method: 'GET',
  root: true,
  hidden: true,
  tag: 'Pages',
  as: 'none',
  fault: showPageError,
  produces: ['text/html'],
  reply: Type.Unknown(),
} as const

/** What a program does about each; the meaning stands in the table of errors. */
const ADVICE: Readonly<Record<keyof typeof ERRORS, string>> = {
  invalid_parameter: 'Correct what `param` names; the same request cannot succeed.',
  missing_parameter: 'Add what `param` names.',
  authentication_required:
    'Send `Authorization: Bearer …` with a key that is active. `WWW-Authenticate` names where one comes from.',
  insufficient_permissions: 'Use a key with the permission that the message names.',
  not_found: 'Look at the id. What belongs to another team is answered the same way.',
  method_not_allowed: 'Use one of the methods in the header `Allow`.',
  not_acceptable: 'Ask for a type this path produces, or leave `Accept` out.',
  conflict: 'Read the resource again and decide anew; with `If-Match`, take the new `ETag`.',
  idempotency_conflict:
    'With `Retry-After`: wait and repeat. Without: the key was used for another body, take a fresh one.',
  payload_too_large: 'Send less at once; large files go up as attachments first.',
  unsupported_media_type: 'Send JSON in UTF-8, or the type that `Accept-Post` names.',
  range_not_satisfiable: 'Ask for a range within the size in `Content-Range`.',
  validation_error: 'Correct the members in `errors`; each has a `field`, a `code` and a sentence.',
  rate_limit_exceeded: 'Wait the seconds of `Retry-After`; `X-RateLimit-Remaining` tells beforehand.',
  internal_error: 'Repeat it later; if it stays, tell the operator the `request_id`.',
  service_unavailable: 'Repeat it after the seconds of `Retry-After`.',
}

const showErrors = route({
  ...page,
  path: '/docs/errors',
  operation: 'showErrors',
  summary: 'What each error means and what to do about it.',
  async handle() {
    const entries = Object.entries(ERRORS).map(([code, { status, retryable, meaning }]) => {
      const advice = ADVICE[code as keyof typeof ERRORS]
      return html`<section class="card" id="${code}"><h2><code>${code}</code></h2><p>${meaning}</p>
<dl><dt>Status</dt><dd>${status}</dd><dt>Repeating helps</dt><dd>${retryable ? 'yes, later' : 'no'}</dd><dt>What to do</dt><dd>${advice}</dd></dl></section>`
    })
    const intro = html`<p>Every error has the same form. Go by <code>error.code</code>; messages are for people and may change.</p>`
    return sitePage({ title: 'Errors', body: html`${intro}${entries}`, session: null })
  },
})

const showDocs = route({
  ...page,
  path: '/docs',
  operation: 'showDocs',
  summary: 'Where things are.',
  async handle({ app: { config } }) {
    const links = [
      [`${config.APP_ORIGIN}/api/v1/openapi.json`, 'The Management and Mailbox API (OpenAPI 3.1)'],
      [`${config.SEND_ORIGIN}/api/v1/openapi.json`, 'The Sending API (OpenAPI 3.1)'],
      ['/docs/errors', 'What each error means'],
      ['/auth.md', 'How an agent gets an inbox'],
      ['/owner/sign-in', 'Sign in'],
    ].map(([href, text]) => html`<li><a href="${href!}">${text!}</a></li>`)
    return sitePage({ title: 'Mailstead', body: html`<ul>${links}</ul>`, session: null })
  },
})

const showHome = route({
  ...page,
  path: '/',
  operation: 'showHome',
  summary: 'Leads whoever opens the bare address to where things are.',
  async handle() {
    return goTo('/docs')
  },
})

export const docPages: readonly Route[] = [showErrors, showDocs, showHome]
