// The signed-in person: who they are, which teams and mailboxes they may open.

import { signal } from '@preact/signals'
import { done, meApi, take } from './client.ts'
import { ApiError } from './errors.ts'
import type { Self } from './types.ts'

/** Null before the session is known. */
export const self = signal<Self | null>(null)

/** Asks who is signed in. @returns null without a session @throws ApiError when the server does not answer */
export async function loadSelf(): Promise<Self | null> {
  try {
    self.value = await take(meApi.GET('/self'))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    self.value = null
  }
  return self.value
}

/** Set when a person wanted to end the session and it may still be open. */
export const isSignOutUnsure = signal(false)

/** Ends the session and leaves to the page to sign in, which starts with nothing kept. */
export async function signOut(): Promise<void> {
  isSignOutUnsure.value = false
  try {
    await done(meApi.DELETE('/session'))
  } catch (error) {
    // A session that has ended already is what was wanted.
    isSignOutUnsure.value = !(error instanceof ApiError) || error.status !== 401
    if (isSignOutUnsure.value) return
  }
  location.assign('/sign-in')
}

/** Whether a list of permissions, which may end with `.*`, has this one. */
export function permits(permissions: readonly string[], wanted: string): boolean {
  return permissions.some(
    (one) => one === wanted || one === '*' || (one.endsWith('.*') && wanted.startsWith(one.slice(0, -1))),
  )
}
