// Messages of programs that wait for the signed-in person.

import { meApi, take, takeList } from './client.ts'
import type { HeldMessage } from './types.ts'

const pathOf = (id: string) => ({ params: { path: { message_id: id } } })

export const listHeld = async () => (await takeList(meApi.GET('/held-messages'))).items
export const readHeld = (id: string) => take(meApi.GET('/held-messages/{message_id}', pathOf(id)))

/** What a person makes of a message; what is left out stays. */
export interface HeldChange {
  to?: string[]
  subject?: string
  text_body?: string
}

/** Decides about the version that was shown. @param note for the program */
export function decideHeld({ id, hash }: Pick<HeldMessage, 'id' | 'hash'>, verb: 'approve' | 'reject', note: string) {
  const body = { hash, ...(note === '' ? {} : { note }) }
  return verb === 'approve'
    ? take(meApi.POST('/held-messages/{message_id}/approve', { ...pathOf(id), body }))
    : take(meApi.POST('/held-messages/{message_id}/reject', { ...pathOf(id), body }))
}

export const editHeld = ({ id, hash }: Pick<HeldMessage, 'id' | 'hash'>, change: HeldChange) =>
  take(meApi.POST('/held-messages/{message_id}/edit', { ...pathOf(id), body: { hash, ...change } }))
