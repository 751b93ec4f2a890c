// The page where the receiver of forwarded messages confirms, declines or ends them. GET changes nothing; the decision is a form.

import { Type } from 'typebox'
import type { Forward } from '../directory/mailboxes/forwards.ts'
import { type Route, route } from '../http/route.ts'
import { TOKEN_PATTERN } from '../people/links.ts'
import { html, type Markup, when } from './markup.ts'
import { goTo, PAGE_ROUTE, requireFormToken, sentences, sitePage } from './site.ts'

const NOT_FOUND = 404
const GONE = 410
const params = Type.Object({ token: Type.String({ pattern: TOKEN_PATTERN }) })

const showForward = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/forwards/{token}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showForward',
    summary: 'Shows a forward to its receiver, and the form to decide.',
  },
  params,
  handle({ params: { token }, app }) {
    const forward = app.directory.forwards.byToken(token)
    if (forward === undefined) {
      const texts = ['It was removed, or a newer message contains a newer link.']
      return sentences('There is no such forwarding', texts, NOT_FOUND)
    }
    if (forward.status === 'expired') {
      const texts = ['It was not confirmed in time. There is nothing to do.']
      return sentences('This request has expired', texts, GONE)
    }
    const from = forward.alias ?? app.directory.mailboxes.byId(forward.mailboxId)!.email
    const form = { token, csrf: app.people.sessions.formToken(token) }
    return sitePage({ title: TITLES[forward.status], body: bodyOf(forward, from, form), session: null })
  },
})

const decideForward = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/forwards/{token}',
  docs: { ...PAGE_ROUTE.docs, operation: 'decideForward', summary: 'Confirms, declines or ends a forward.' },
  params,
  body: {
    form: true,
    schema: Type.Object({ csrf: Type.String({ maxLength: 100 }), answer: Type.Enum(['confirm', 'refuse']) }),
  },
  async handle({ params: { token }, body, app }) {
    requireFormToken(app, token, body.csrf)
    await app.administration.forwards.answer(token, body.answer)
    return goTo(`/forwards/${token}`)
  },
})

const TITLES = {
  pending: 'Mail is to be forwarded to you',
  active: 'Mail is forwarded to you',
  declined: 'You have declined',
  ended: 'You have ended the forwarding',
} as const

interface FormTarget {
  token: string
  csrf: string
}

function bodyOf(forward: Forward, from: string, form: FormTarget): Markup {
  const facts = html`<div class="card"><dl><dt>Mail to</dt><dd><code>${from}</code></dd><dt>Forwarded to</dt><dd><code>${forward.email}</code></dd>
<dt>Requested</dt><dd>${when(forward.createdAt)}</dd></dl></div>`
  if (forward.status === 'pending') {
    return html`<p>The owner of an address asks to forward its mail to you.</p>${facts}
${button(form, 'confirm', 'Confirm')}
<h2>I did not expect this</h2><p>Nothing is forwarded, and you are not asked again for a year.</p>${button(form, 'refuse', 'Decline')}`
  }
  if (forward.status === 'active') {
    return html`<p>You have confirmed this. The same page ends it at any time.</p>${facts}${button(form, 'refuse', 'End forwarding')}`
  }
  return html`<p>Nothing is forwarded to you, and you are not asked again for a year.</p>${facts}
<p>If you have changed your mind:</p>${button(form, 'confirm', 'Allow forwarding')}`
}

function button({ token, csrf }: FormTarget, answer: 'confirm' | 'refuse', text: string): Markup {
  const quiet = answer === 'refuse' ? html` class="quiet"` : null
  return html`<form method="post" action="/forwards/${token}"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="answer" value="${answer}">
<div class="actions"><button${quiet}>${text}</button></div></form>`
}

export const forwardPages: readonly Route[] = [showForward, decideForward]
