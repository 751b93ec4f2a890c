// For whom a signed-in person acts: the path `/as/{actor}/…` stands for the path of the API behind it.

import { idPattern } from '../base/ids.ts'
import { API_BASE, OPERATOR_BASE } from './prepared-route.ts'

/** A team, one of its mailboxes, or the appliance. */
export type Actor = { kind: 'team' | 'mailbox'; id: string } | { kind: 'operator' }

const PREFIX = '/as/'
const OPERATOR_PREFIX = '/as/operator/'
const inner = (kind: 'team' | 'mailbox') => idPattern(kind).slice(1, -1)
/** The prefix is cut once: what follows must be a path of the API, so that it reaches no other route of the listener. */
const FORM = new RegExp(`^/as/(${inner('team')}|${inner('mailbox')})(${API_BASE}/.+)$`)

/** Whether a path is meant for a signed-in person acting for a team, a mailbox or the appliance. */
export function isActorPath(path: string): boolean {
  return path === '/as' || path.startsWith(PREFIX)
}

/** @param path as received, not decoded @returns the actor and the path of the API; null for a path that names none */
export function splitActor(path: string): { actor: Actor; path: string } | null {
  if (path.startsWith(OPERATOR_PREFIX)) {
    return { actor: { kind: 'operator' }, path: `${OPERATOR_BASE}/${path.slice(OPERATOR_PREFIX.length)}` }
  }
  const [, id, rest] = FORM.exec(path) ?? []
  if (id === undefined || rest === undefined) return null
  return { actor: { kind: id.startsWith('team_') ? 'team' : 'mailbox', id }, path: rest }
}
