// The OAuth redirect endpoint for Google and Microsoft when a person connects a sending account (decisions §3.1).

import { Type } from 'typebox'
import { type PageAnswer, route } from '../http/route.ts'
import { Words } from '../http/schema.ts'
import type { OAuth, OAuthCallbackResult } from '../outbound/oauth/oauth.ts'
import { htmlPage, onwardPage, type PageContent } from './html.ts'

const AGAIN = 'To try again, start the connection again from where you came.'
const NOTHING_CHANGED = 'Nothing has been changed.'

export const oauthCallback = route({
  method: 'GET',
  path: '/oauth/callback/{type}',
  root: true,
  docs: {
    hidden: true,
    operation: 'showOauthCallback',
    tag: 'Pages',
    summary: 'Completes the connection of an account.',
  },
  access: { as: 'none' },
  params: Type.Object({ type: Words(['gmail_api', 'outlook_api']) }),
  query: Type.Object({
    state: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  reply: { types: ['text/html'], schema: Type.Unknown() },
  async handle({ params: { type }, query, request, app }) {
    return pageOf(
      await completeConnection(app.outbound.oauth, type, query, (error) => {
        app.log.error(
          { event: 'oauth.callback_failed', err: error, request_id: request.id },
          'Account could not be connected',
        )
      }),
    )
  },
})

type Query = Parameters<OAuth['callback']>[1]

/** Calls the OAuth callback; an internal failure becomes a page as well. */
async function completeConnection(
  oauth: OAuth,
  type: 'gmail_api' | 'outlook_api',
  query: Query,
  failed: (error: unknown) => void,
): Promise<OAuthCallbackResult> {
  try {
    return await oauth.callback(type, query)
  } catch (error) {
    failed(error)
    return { kind: 'failed', reason: 'Something went wrong on our side.', redirectAfter: null }
  }
}

function pageOf(outcome: OAuthCallbackResult): PageAnswer {
  switch (outcome.kind) {
    case 'connected':
      return connected(outcome)
    case 'denied':
      return htmlPage(
        returnPath(outcome, 'The account was not connected', ['You declined the request.', NOTHING_CHANGED, AGAIN]),
      )
    case 'incomplete': {
      const texts = [
        'Not every permission was given. Mailstead needs all of them to send mail and to find sent messages after a lost connection.',
        'To try again, start the connection again from where you came and leave all boxes ticked.',
      ]
      return htmlPage(returnPath(outcome, 'A permission is missing', texts))
    }
    case 'failed':
      return htmlPage(
        returnPath(outcome, 'The account could not be connected', [outcome.reason, NOTHING_CHANGED, AGAIN]),
        502,
      )
    case 'expired':
      return htmlPage({ title: 'This link has expired', texts: ['It is valid for ten minutes.', AGAIN] }, 410)
    case 'used': {
      const texts = ['It works once. If the account is in your list, it is connected.', AGAIN]
      return htmlPage({ title: 'This link was already used', texts }, 410)
    }
    case 'unknown':
      return htmlPage({ title: 'Invalid link', texts: ['This appliance did not create it.', AGAIN] }, 400)
  }
}

function connected(outcome: Extract<OAuthCallbackResult, { kind: 'connected' }>): PageAnswer {
  const { provider, redirectAfter } = outcome
  const content = returnPath(outcome, 'The account is connected', [
    `${provider.oauthEmail} can be sent from as "${provider.name}" as soon as the connection has been checked.`,
    'You can close this page.',
  ])
  return redirectAfter === null ? htmlPage(content) : onwardPage(content, redirectAfter)
}

function returnPath({ redirectAfter }: { redirectAfter: string | null }, title: string, texts: string[]): PageContent {
  return { title, texts, link: redirectAfter === null ? null : { href: redirectAfter, text: 'Continue' } }
}
