// What a person can do with an outside account in its state (decisions-imap §10.4), as pure functions.

import type { RemoteAccount } from './records.ts'

export interface RemoteActions {
  update: boolean
  delete: boolean
  pause: boolean
  resume: boolean
  sync: boolean
  confirmRemoval: boolean
}

export function remoteActions({ status, removal }: Pick<RemoteAccount, 'status' | 'removal'>): RemoteActions {
  const isStopped = status === 'paused' || status === 'error'
  return {
    update: true,
    delete: true,
    pause: status !== 'paused',
    resume: isStopped,
    sync: !isStopped,
    confirmRemoval: removal !== null && !removal.isConfirmed,
  }
}

/** Why the state does not allow an action, with what to do. */
export function whyNotRemote({ status }: Pick<RemoteAccount, 'status'>, action: keyof RemoteActions): string {
  if (action === 'confirmRemoval') return 'No removal is held back.'
  if (action === 'pause') return 'The outside account is paused already.'
  if (action === 'resume') return `The outside account is ${status}: there is nothing to resume.`
  return status === 'paused'
    ? 'The outside account is paused. Resume it first.'
    : 'The outside account is in error. Change its settings, or resume it.'
}
