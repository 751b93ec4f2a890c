// Changes of records that also change by being used: a message arrives in the mailbox, an account sends, a webhook is called.

import { toApiError } from '../api/errors.ts'

/** A busy record may change again between reading and saving. */
const MOST_TRIES = 3

export interface Tagged<T> {
  value: T
  tag: string
}

export interface Change<T> {
  /** What the form began with. */
  seen: Tagged<T>
  /** What the form shows of the record. */
  shown: (record: T) => unknown
  read: () => Promise<Tagged<T>>
  /** Sends the change with this tag in If-Match, and answers the record as it is then. */
  send: (tag: string) => Promise<Tagged<T>>
}

/** Another text when something that a form shows has changed. */
export const keyOf = (shown: unknown): string => JSON.stringify(shown)

/**
 * Changes a record unless another person changed what the form shows; what its use changed since then does not matter.
 * @returns the record as it is then
 * @throws ApiError
 */
export async function changeShown<T>({ seen, shown, read, send }: Change<T>): Promise<Tagged<T>> {
  let { tag } = seen
  for (let tries = 1; ; tries++) {
    try {
      return await send(tag)
    } catch (error) {
      if (!toApiError(error).isOtherVersion || tries === MOST_TRIES) throw error
      const now = await read()
      if (keyOf(shown(now.value)) !== keyOf(shown(seen.value))) throw error
      tag = now.tag
    }
  }
}
