// Pages, without scripts, where a person decides about a message of a program: by a mailed link, or signed in.

import { Type } from 'typebox'
import type { HeldContent } from '../administration/held-messages.ts'
import type { HeldRecord } from '../administration/held-record.ts'
import type { Context } from '../context.ts'
import { type Route, route } from '../http/route.ts'
import { Id } from '../http/schema.ts'
import { TOKEN_PATTERN } from '../people/links.ts'
import { html, type Markup, when } from './markup.ts'
import {
  goTo,
  PAGE_ROUTE,
  personOf,
  requireFormToken,
  requireFreshSignIn,
  sentences,
  sessionOf,
  sitePage,
} from './site.ts'

const NOT_FOUND = 404
const LIST = '/owner/held'
const byToken = Type.Object({ token: Type.String({ pattern: TOKEN_PATTERN }) })
const byId = Type.Object({ message_id: Id('email') })
const form = Type.Object({
  csrf: Type.String({ maxLength: 100 }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  answer: Type.Enum(['approve', 'reject']),
})

const REASONS = {
  first_contact: 'no person has written to a recipient before',
  after_reading_strangers: 'a program has read a message of a stranger within a day',
  always: 'every message of programs waits',
  changed: 'it was changed after it was approved',
} as const

const showLink = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/held/{token}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showHeldByLink',
    summary: 'Shows a held message to the person who got its link by mail.',
  },
  params: byToken,
  async handle({ params: { token }, app }) {
    const found = app.heldMessages.byLink(token)
    if (found === undefined) return gone()
    if (found.mustSignIn) return goTo(`${LIST}/${found.held.emailId}`)
    const csrf = app.people.sessions.formToken(token)
    return messagePage(app, found, { action: `/held/${token}`, csrf, session: null })
  },
})

const decideLink = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/held/{token}',
  docs: { ...PAGE_ROUTE.docs, operation: 'decideHeldByLink', summary: 'Approves or rejects a held message.' },
  params: byToken,
  body: { form: true, schema: form },
  async handle({ params: { token }, body, app }) {
    requireFormToken(app, token, body.csrf)
    await app.heldMessages.decideByLink(token, body.answer, Buffer.from(body.hash, 'hex'))
    return decided(body.answer)
  },
})

const listHeld = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: LIST,
  docs: { ...PAGE_ROUTE.docs, operation: 'showHeld', summary: 'Lists the held messages of the signed-in person.' },
  handle({ app, request }) {
    const session = sessionOf(app, request)
    if (session === undefined) return goTo('/owner/sign-in')
    const cards = app.heldMessages.list(session, ['held']).map(
      ({ held, email }) => html`<div class="card"><dl><dt>From</dt><dd><code>${email.from.email}</code></dd>
<dt>Subject</dt><dd>${email.subject}</dd><dt>Waits since</dt><dd>${when(held.createdAt)}</dd></dl>
<p><a href="${LIST}/${held.emailId}">Look at it</a></p></div>`,
    )
    const body = cards.length === 0 ? html`<p>No message waits for you.</p>` : html`${cards}`
    return sitePage({ title: 'Messages that wait for you', body, session: personOf(app, session) })
  },
})

const showHeld = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: `${LIST}/{message_id}`,
  docs: { ...PAGE_ROUTE.docs, operation: 'showHeldMessage', summary: 'Shows a held message to the signed-in person.' },
  params: byId,
  async handle({ params: { message_id: id }, app, request }) {
    const session = sessionOf(app, request)
    if (session === undefined) return goTo('/owner/sign-in')
    const person = personOf(app, session)
    const found = app.heldMessages.get(session, id)
    return messagePage(app, found, { action: `${LIST}/${id}`, csrf: person.formToken, session: person })
  },
})

const decideHeld = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: `${LIST}/{message_id}`,
  docs: { ...PAGE_ROUTE.docs, operation: 'decideHeldMessage', summary: 'Approves or rejects a held message.' },
  params: byId,
  body: { form: true, schema: form },
  async handle({ params: { message_id: id }, body, app, request }) {
    const session = sessionOf(app, request)
    if (session === undefined) return goTo('/owner/sign-in')
    requireFormToken(app, session.token, body.csrf)
    requireFreshSignIn(app, session)
    await app.heldMessages[body.answer](session, id, { hash: Buffer.from(body.hash, 'hex'), note: null })
    return goTo(LIST)
  },
})

interface Decisions {
  action: string
  csrf: string
  session: { email: string; formToken: string } | null
}

function gone() {
  const texts = ['It was decided, has expired, or has changed: then a newer message contains a newer link.']
  return sentences('Nothing waits here', texts, NOT_FOUND)
}

function decided(answer: 'approve' | 'reject') {
  const done = answer === 'approve' ? 'The message leaves now.' : 'The message is not sent. It is in Drafts.'
  return sentences(answer === 'approve' ? 'Approved' : 'Rejected', [done])
}

async function messagePage(app: Context, found: HeldRecord, decisions: Decisions) {
  const { held, email } = found
  const { session } = decisions
  if (held.state !== 'held' || email.hash === null) {
    return sitePage({ title: `This message is ${held.state}`, body: html`<p>There is nothing to decide.</p>`, session })
  }
  const content = await app.heldMessages.content(found)
  return sitePage({ title: 'A message waits for you', body: bodyOf(found, content, decisions), session })
}

function bodyOf({ held, email, read }: HeldRecord, content: HeldContent, decisions: Decisions): Markup {
  const shown = new Set([...content.to, ...content.cc].map((one) => one.email.toLowerCase()))
  const recipients = email.recipients.map(({ to }) => to)
  const hidden = recipients.filter((address) => !shown.has(address.toLowerCase()))
  const row = (label: string, value: string) => (value === '' ? null : html`<dt>${label}</dt><dd>${value}</dd>`)
  const files = content.attachments.map(({ filename, sizeBytes }) => `${filename} (${sizeBytes} bytes)`).join(', ')
  const htmlText =
    content.htmlText === null ? null : html`<h2>What its formatted part says</h2><pre>${content.htmlText}</pre>`
  const strangers = read.map(
    ({ author, subject, readAt }) => html`<li><code>${author}</code>: ${subject} (${when(readAt)})</li>`,
  )
  return html`<p>A program wants to send this message. It waits because ${REASONS[held.reason]}.</p>
<div class="card"><dl>${row('From', email.from.email)}${row('To', recipients.filter((one) => !hidden.includes(one)).join(', '))}
${row('Hidden recipients', hidden.join(', '))}${row('Answers go to', content.replyTo.map((one) => one.email).join(', '))}
${row('Subject', email.subject)}${row('Files', files)}${row('Sent by', held.credential ?? '')}</dl><pre>${content.text}</pre></div>
${content.isTruncated ? html`<p>The text is longer than what is shown.</p>` : null}${htmlText}
${strangers.length === 0 ? null : html`<h2>Messages of strangers that were read before</h2><ul>${strangers}</ul>`}
${button(held, decisions, 'approve', 'Approve')}${button(held, decisions, 'reject', 'Reject')}`
}

function button(
  { hash }: HeldRecord['held'],
  { action, csrf }: Decisions,
  answer: 'approve' | 'reject',
  text: string,
): Markup {
  const quiet = answer === 'reject' ? html` class="quiet"` : null
  return html`<form method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="hash" value="${Buffer.from(hash).toString('hex')}"><input type="hidden" name="answer" value="${answer}">
<div class="actions"><button${quiet}>${text}</button></div></form>`
}

export const heldPages: readonly Route[] = [showLink, decideLink, listHeld, showHeld, decideHeld]
