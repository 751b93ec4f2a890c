// The two variants of each route for the settings of a mailbox: with the credentials of the mailbox, and with those of its team.

import { type TObject, type TOptional, type TProperties, type TString, Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { MailboxPrincipal, TeamPrincipal } from '../../directory/names/principal.ts'
import { Id } from '../../http/schema.ts'
import { mailboxOf } from './mailbox-of.ts'

export interface RouteVariant {
  as: 'mailbox' | 'team'
  isTeam: boolean
  tag: 'Mailbox' | 'Mailboxes'
  path: '/mailbox' | '/mailboxes/{mailbox_id}'
  /** In the names of operations: `listForwards` and `listMailboxForwards`. */
  infix: '' | 'Mailbox'
  /** In summaries: a team says of which mailbox; agents are refused with the credentials of their own inbox. */
  of: '' | ' of a mailbox'
  noAgents: '' | '; 403 for agents'
}

export const OWN_MAILBOX: RouteVariant = {
  ...{ as: 'mailbox', isTeam: false, tag: 'Mailbox', path: '/mailbox' },
  ...{ infix: '', of: '', noAgents: '; 403 for agents' },
}
export const TEAM_MAILBOX: RouteVariant = {
  ...{ as: 'team', isTeam: true, tag: 'Mailboxes', path: '/mailboxes/{mailbox_id}' },
  ...{ infix: 'Mailbox', of: ' of a mailbox', noAgents: '' },
}

/** The path parameters of a variant, with those of a resource; undefined where there are none. */
export function paramsOf<P extends TProperties>({ isTeam }: RouteVariant, more: P) {
  const properties = { ...(isTeam ? { mailbox_id: Id('mailbox') } : {}), ...more }
  const params = Object.keys(properties).length === 0 ? undefined : Type.Object(properties)
  return params as TObject<{ mailbox_id: TOptional<TString> } & P>
}

/** What both kinds of credentials can be: `kind` says which. */
export type MailboxCaller = TeamPrincipal | MailboxPrincipal

/** @throws ProductError not_found, also for a mailbox of another team */
export function mailboxIn(app: Context, principal: MailboxCaller, { mailbox_id }: { mailbox_id?: string }): Mailbox {
  if (principal.kind === 'team') return mailboxOf(app, principal.teamId, mailbox_id ?? '')
  const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
  if (mailbox === undefined) throw notFound('mailbox')
  return mailbox
}
