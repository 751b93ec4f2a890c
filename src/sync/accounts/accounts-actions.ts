// What a person can do with an outside account in its state (docs/design/outside-accounts.md §4), as pure functions.

import { type HeldRemoval, REMOVAL_SIDES, type RemoteAccount, type RemovalSide } from '../model/records.ts'

export interface RemoteActions {
  update: boolean
  delete: boolean
  pause: boolean
  resume: boolean
  sync: boolean
  confirmRemoval: boolean
  undoRemoval: boolean
}

/** The removals that wait for a confirmation. */
export function heldRemovals({
  removal,
  removalThere,
}: Pick<RemoteAccount, 'removal' | 'removalThere'>): { side: RemovalSide; removal: HeldRemoval }[] {
  const held = { here: removal, server: removalThere }
  return REMOVAL_SIDES.flatMap((side) => {
    const one = held[side]
    return one === null || one.isConfirmed || one.isUndone === true ? [] : [{ side, removal: one }]
  })
}

type Acted = Pick<RemoteAccount, 'status' | 'removal' | 'removalThere'>

export function remoteActions(account: Acted): RemoteActions {
  const { status } = account
  const isStopped = status === 'paused' || status === 'error'
  return {
    update: true,
    delete: true,
    pause: status !== 'paused',
    resume: isStopped,
    sync: !isStopped,
    confirmRemoval: heldRemovals(account).length > 0,
    undoRemoval: heldRemovals(account).length > 0,
  }
}

/** Why the state does not allow an action, with what to do. */
export function whyNotRemote({ status }: Pick<RemoteAccount, 'status'>, action: keyof RemoteActions): string {
  if (action === 'confirmRemoval' || action === 'undoRemoval') return 'No removal is held back.'
  if (action === 'pause') return 'The outside account is paused already.'
  if (action === 'resume') return `The outside account is ${status}: there is nothing to resume.`
  return status === 'paused'
    ? 'The outside account is paused. Resume it first.'
    : 'The outside account is in error. Change its settings, or resume it.'
}
