// Signing in, proving that one is still there, and what the person keeps: passkeys, sessions, a password, recovery codes.

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { ask } from './client.ts'
import type { Self } from './types.ts'

/** Options of a ceremony, and the name under which the server remembers them. */
interface Ceremony<T> {
  flow_id: string
  options: T
}

export interface Passkey {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
  backed_up: boolean
}

export interface Session {
  id: string
  method: string
  trusted: boolean
  user_agent: string | null
  source: string | null
  created_at: string
  last_seen_at: string
  current: boolean
}

/** Whether this browser has passkeys; they need https or localhost. */
export const hasPasskeys = () => typeof PublicKeyCredential !== 'undefined' && isSecureContext

/** Mails a sign-in link; the answer is the same for every address. */
export const mailLink = (email: string) => ask<unknown>('POST', '/me/v1/sign-in/link', { email })

/** @throws ApiError, or a DOMException when the person cancels */
export async function signInByPasskey(trusted: boolean): Promise<Self> {
  const { flow_id, options } = await ask<Ceremony<PublicKeyCredentialRequestOptionsJSON>>(
    'POST',
    '/me/v1/sign-in/passkey/options',
    {},
  )
  const response = await startAuthentication({ optionsJSON: options })
  return ask<Self>('POST', '/me/v1/sign-in/passkey', { flow_id, response, trusted })
}

export const signInByPassword = (email: string, password: string, trusted: boolean) =>
  ask<Self>('POST', '/me/v1/sign-in/password', { email, password, trusted })

export const signInByRecoveryCode = (email: string, code: string) =>
  ask<Self>('POST', '/me/v1/sign-in/recovery', { email, code })

/** Proves with a passkey that the person is there. */
export async function confirmByPasskey(): Promise<void> {
  const { flow_id, options } = await ask<Ceremony<PublicKeyCredentialRequestOptionsJSON>>(
    'POST',
    '/me/v1/confirm/options',
    {},
  )
  const response = await startAuthentication({ optionsJSON: options })
  await ask('POST', '/me/v1/confirm', { flow_id, response })
}

export const confirmByPassword = (password: string) => ask<unknown>('POST', '/me/v1/confirm', { password })

/** Makes a passkey in this device or password manager. */
export async function addPasskey(name: string): Promise<Passkey> {
  const { flow_id, options } = await ask<Ceremony<PublicKeyCredentialCreationOptionsJSON>>(
    'POST',
    '/me/v1/passkeys/options',
    {},
  )
  const response = await startRegistration({ optionsJSON: options })
  return ask<Passkey>('POST', '/me/v1/passkeys', { flow_id, response, name })
}

export const listPasskeys = () => ask<Passkey[]>('GET', '/me/v1/passkeys')
export const renamePasskey = (id: string, name: string) => ask<Passkey>('PATCH', `/me/v1/passkeys/${id}`, { name })
export const removePasskey = (id: string) => ask<unknown>('DELETE', `/me/v1/passkeys/${id}`)
export const listSessions = () => ask<Session[]>('GET', '/me/v1/sessions')
export const endSession = (id: string) => ask<unknown>('DELETE', `/me/v1/sessions/${id}`)
export const endOtherSessions = () => ask<unknown>('DELETE', '/me/v1/sessions')
export const makeRecoveryCodes = () => ask<{ codes: string[] }>('POST', '/me/v1/recovery-codes', {})
export const setPassword = (password: string) => ask<unknown>('PUT', '/me/v1/password', { password })
export const removePassword = () => ask<unknown>('DELETE', '/me/v1/password')
export const updateSelf = (change: Partial<Pick<Self, 'display_name' | 'locale' | 'time_zone'>>) =>
  ask<Self>('PATCH', '/me/v1/self', change)
