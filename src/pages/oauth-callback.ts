// Where Google and Microsoft send a person back to who was asked to connect an account (decisions §3.1).

import { Type } from 'typebox'
import { type PageAnswer, route } from '../http/route.ts'
import { Words } from '../http/schema.ts'
import type { OAuth, Visit } from '../outbound/oauth/oauth.ts'
import { type Content, htmlPage, onwardPage } from './html.ts'

const AGAIN = 'To try again, begin once more where you came from.'
const NOTHING_CHANGED = 'Nothing has been changed.'

export const oauthCallback = route({
  method: 'GET',
  path: '/oauth/callback/{type}',
  root: true,
  hidden: true,
  operation: 'showOauthCallback',
  tag: 'Pages',
  summary: 'Ends the connecting of an account.',
  as: 'none',
  params: Type.Object({ type: Words(['gmail_api', 'outlook_api']) }),
  query: Type.Object({
    state: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  produces: ['text/html'],
  reply: Type.Unknown(),
  async handle({ params: { type }, query, request, app }) {
    return pageOf(
      await visit(app.outbound.oauth, type, query, (error) => {
        app.log.error({ err: error, request_id: request.id }, 'an account could not be connected')
      }),
    )
  },
})

type Query = Parameters<OAuth['callback']>[1]

/** A person gets a page also when something of ours failed. */
async function visit(
  oauth: OAuth,
  type: 'gmail_api' | 'outlook_api',
  query: Query,
  failed: (error: unknown) => void,
): Promise<Visit> {
  try {
    return await oauth.callback(type, query)
  } catch (error) {
    failed(error)
    return { kind: 'failed', reason: 'Something went wrong on our side.', redirectAfter: null }
  }
}

function pageOf(visit: Visit): PageAnswer {
  switch (visit.kind) {
    case 'connected':
      return connected(visit)
    case 'denied':
      return htmlPage(
        wayBack(visit, 'The account was not connected', [
          'You did not allow it. That is fine.',
          NOTHING_CHANGED,
          AGAIN,
        ]),
      )
    case 'incomplete': {
      const texts = [
        'Not every permission was given. Without them mail cannot be sent, or be found again after a broken connection.',
        'To try again, begin once more where you came from and leave all boxes ticked.',
      ]
      return htmlPage(wayBack(visit, 'A permission is missing', texts))
    }
    case 'failed':
      return htmlPage(wayBack(visit, 'The account could not be connected', [visit.reason, NOTHING_CHANGED, AGAIN]), 502)
    case 'expired':
      return htmlPage({ title: 'This took too long', texts: ['The way here is open for ten minutes.', AGAIN] }, 410)
    case 'used': {
      const texts = ['It works once. If the account is in your list, it is connected and all is well.', AGAIN]
      return htmlPage({ title: 'This page was opened before', texts }, 410)
    }
    case 'unknown':
      return htmlPage({ title: 'This address is not right', texts: ['It was not made by this appliance.', AGAIN] }, 400)
  }
}

function connected(visit: Extract<Visit, { kind: 'connected' }>): PageAnswer {
  const { provider, redirectAfter } = visit
  const content = wayBack(visit, 'The account is connected', [
    `${provider.oauthEmail} can be sent from as "${provider.name}" as soon as the connection has been checked.`,
    'You can close this page.',
  ])
  return redirectAfter === null ? htmlPage(content) : onwardPage(content, redirectAfter)
}

function wayBack({ redirectAfter }: { redirectAfter: string | null }, title: string, texts: string[]): Content {
  return { title, texts, link: redirectAfter === null ? null : { href: redirectAfter, text: 'Go on' } }
}
