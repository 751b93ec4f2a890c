// What a credential allows in a session (docs/design/mail-programs.md §1): the scopes of the API, and whether the mailbox is suspended.

import { allows } from '../directory/names/permissions.ts'
import type { SignedIn } from './signed-in.ts'

/** `read`: everything that changes nothing; `change`: flags, COPY, MOVE; `write`: folders, APPEND, EXPUNGE. */
export type Right = 'read' | 'change' | 'write'

/** Whether the credential of a session allows something. A suspended mailbox is read-only. */
export function mayDo({ principal, suspended }: Pick<SignedIn, 'principal' | 'suspended'>, right: Right): boolean {
  const { permissions } = principal
  if (right === 'read') return allows(permissions, 'mailbox.read')
  if (suspended) return false
  if (allows(permissions, 'mailbox.write')) return true
  return right === 'change' && allows(permissions, 'email.receive')
}
