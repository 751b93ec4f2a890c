// Signing in, proving that one is still there, and what the person keeps: passkeys, sessions, a password, recovery codes.

import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { done, meApi, take } from './client.ts'
import { createdPasskey, creationOptions, requestOptions, usedPasskey } from './passkey-forms.ts'
import type { Passkey, PersonSession, Self } from './types.ts'

export type { Passkey } from './types.ts'
export type Session = PersonSession

/** Whether this browser has passkeys; they need https or localhost. */
export const hasPasskeys = () => typeof PublicKeyCredential !== 'undefined' && isSecureContext

/** Mails a sign-in link; the answer is the same for every address. */
export const mailLink = (email: string) => done(meApi.POST('/sign-in/link', { body: { email } }))

/** @throws ApiError, or a DOMException when the person cancels */
export async function signInByPasskey(trusted: boolean): Promise<Self> {
  const begun = await take(meApi.POST('/sign-in/passkey/options', {}))
  const response = usedPasskey(await startAuthentication({ optionsJSON: requestOptions(begun) }))
  return take(meApi.POST('/sign-in/passkey', { body: { flow_id: begun.flow_id, response, trusted } }))
}

export const signInByPassword = (email: string, password: string, trusted: boolean) =>
  take(meApi.POST('/sign-in/password', { body: { email, password, trusted } }))

export const signInByRecoveryCode = (email: string, code: string) =>
  take(meApi.POST('/sign-in/recovery', { body: { email, code } }))

/** Proves with a passkey that the person is there. */
export async function confirmByPasskey(): Promise<void> {
  const begun = await take(meApi.POST('/confirm/options', {}))
  const response = usedPasskey(await startAuthentication({ optionsJSON: requestOptions(begun) }))
  await done(meApi.POST('/confirm', { body: { flow_id: begun.flow_id, response } }))
}

export const confirmByPassword = (password: string) => done(meApi.POST('/confirm', { body: { password } }))

/** Makes a passkey in this device or password manager. */
export async function addPasskey(name: string): Promise<Passkey> {
  const begun = await take(meApi.POST('/passkeys/options', {}))
  const response = createdPasskey(await startRegistration({ optionsJSON: creationOptions(begun) }))
  return take(meApi.POST('/passkeys', { body: { flow_id: begun.flow_id, response, name } }))
}

const passkeyAt = (id: string) => ({ params: { path: { passkey_id: id } } })

export const listPasskeys = () => take(meApi.GET('/passkeys'))
export const renamePasskey = (id: string, name: string) =>
  take(meApi.PATCH('/passkeys/{passkey_id}', { ...passkeyAt(id), body: { name } }))
export const removePasskey = (id: string) => done(meApi.DELETE('/passkeys/{passkey_id}', passkeyAt(id)))
export const listSessions = () => take(meApi.GET('/sessions'))
export const endSession = (id: string) =>
  done(meApi.DELETE('/sessions/{session_id}', { params: { path: { session_id: id } } }))
export const endOtherSessions = () => done(meApi.DELETE('/sessions'))
export const makeRecoveryCodes = () => take(meApi.POST('/recovery-codes', {}))
export const setPassword = (password: string) => done(meApi.PUT('/password', { body: { password } }))
export const removePassword = () => done(meApi.DELETE('/password'))
export const updateSelf = (change: Partial<Pick<Self, 'display_name' | 'locale' | 'time_zone'>>) =>
  take(meApi.PATCH('/self', { body: change }))
